/** Makes a function whose work is begun once, however often it is called. */
export function onlyOnce(work: () => Promise<void>): () => Promise<void> {
  let begun: Promise<void> | undefined;
  return () => (begun ??= work());
}
