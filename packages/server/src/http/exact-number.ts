/**
 * Tells whether a decimal number, as JSON writes it, is the one that its double stands for: whether the
 * double's shortest form, which is what a reader of our output sees, has the same decimal value.
 * So `1.0`, `1e2`, `0.1` and `-0` are exact; `9007199254740993`, `0.10000000000000001`, `1e999` and `1e-999`
 * are not. Takes time linear in the length of `written`.
 */
export function isExactNumber(written: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  const shortest = String(value);
  return shortest === written || canonicalDecimal(shortest) === canonicalDecimal(written);
}

/** One text per decimal value: its digits without outer zeros, and where the point stands before them. */
function canonicalDecimal(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const exponentAt = text.search(/[eE]/);
  const mantissa = text.slice(sign.length, exponentAt < 0 ? text.length : exponentAt);
  const exponent = exponentAt < 0 ? 0 : Number(text.slice(exponentAt + 1));
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let start = 0;
  while (digits.charAt(start) === '0') start += 1;
  let end = digits.length;
  while (end > start && digits.charAt(end - 1) === '0') end -= 1;
  if (start === end) return '0';
  return `${sign}${digits.slice(start, end)}e${whole.length + exponent - start}`;
}
