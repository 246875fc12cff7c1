/** The JSON Pointer (RFC 6901) to what `name` stands for inside of what `pointer` points to. */
export function below(pointer: string, name: string | number): string {
  return `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
