/** Texts of `curl` commands; what people wrote is quoted so that no shell sees anything in it. */

/** A word in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export interface Request {
  readonly url: string;
  /** Name of the variable that holds the key. */
  readonly keyVariable: string;
  readonly idempotent?: boolean;
  /** Sent as JSON; without it the request is a GET. */
  readonly json?: unknown;
}

export function curlOf({ url, keyVariable, idempotent = false, json }: Request): string {
  const lines = [`curl -s ${quoted(url)}`, `  -H "Authorization: Bearer $${keyVariable}"`];
  if (idempotent) lines.push(`  -H 'Idempotency-Key: A-NEW-KEY'`);
  if (json !== undefined)
    lines.push(`  -H 'Content-Type: application/json'`, `  -d ${quoted(JSON.stringify(json))}`);
  return lines.join(' \\\n');
}
