/** What is drawn from a call is tried so often, with pauses between, before it is given up; milliseconds. */
export const retryPausesMs = [1_000, 5_000, 30_000, 120_000];
