/** Stops on a programmer's mistake. Not for what clients, networks or callees may do. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`);
}
