/**
 * A name that a client sent, for use in a message: repeated only when it looks like a field's name, because it
 * might hold what was meant to be a value (I10).
 */
export function plainName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(name) ? `'${name}'` : '(not a plain name)';
}
