/**
 * Amounts of money: whole millionths of a US dollar, as bigint. Sums and products of them are exact; nothing is ever
 * a floating-point number. In and out of the program they are decimal texts.
 */
export type Micros = bigint;

const microsPerDollar = 1_000_000n;
/** Prices have four decimals, so amounts show four at least. */
const fewestDecimals = 4;

/**
 * Reads an amount from 0 to 999,999,999.999999, such as `12.50`; a point, and at most six decimals. Null for anything
 * else.
 */
export function parseAmount(text: string): Micros | null {
  const match = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text);
  if (match === null) return null;
  const [, whole = '', decimals = ''] = match;
  return BigInt(whole) * microsPerDollar + BigInt(decimals.padEnd(6, '0'));
}

/** Dollars with four to six decimals, such as `0.0148`: all that there are. The amount must not be negative. */
export function formatAmount(amount: Micros): string {
  if (amount < 0n) throw new RangeError('an amount is negative');
  const decimals = (amount % microsPerDollar)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,2}$/, '');
  return `${amount / microsPerDollar}.${decimals.padEnd(fewestDecimals, '0')}`;
}
