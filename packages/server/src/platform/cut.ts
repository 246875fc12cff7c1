/** The beginning of a text, at most `maxLength` UTF-16 units; no character is cut in half. */
export function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '');
}
