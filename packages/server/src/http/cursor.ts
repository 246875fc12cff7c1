import { createHmac, timingSafeEqual } from 'node:crypto';
import { Refusal } from '../platform/refusal.ts';

/** Half of an HMAC-SHA-256: 128 bits. */
const macBytes = 16;
const maxCursorLength = 512;

/** Cursors of lists. They name the last item that was shown, so they outlive its deletion. */
export interface Cursors {
  /** The cursor behind the item `lastId`; URL-safe. */
  encode(endpoint: string, accountId: string, lastId: string): string;
  /** The item behind which to go on. Throws: Refusal `invalid_request` for anything that `encode` did not make here. */
  decode(endpoint: string, accountId: string, cursor: string): string;
}

/**
 * Builds cursors that are authentic and bound to the account and the endpoint that they were made for.
 * `secret` is shared by all processes of the deployment.
 */
export function createCursors(secret: Uint8Array): Cursors {
  const mac = (endpoint: string, accountId: string, lastId: string): Buffer =>
    createHmac('sha256', secret)
      .update(JSON.stringify(['cursor-1', endpoint, accountId, lastId]))
      .digest()
      .subarray(0, macBytes);
  return {
    encode: (endpoint, accountId, lastId) =>
      Buffer.concat([mac(endpoint, accountId, lastId), Buffer.from(lastId)]).toString('base64url'),
    decode(endpoint, accountId, cursor) {
      const bytes = cursor.length > maxCursorLength ? Buffer.alloc(0) : Buffer.from(cursor, 'base64url');
      const lastId = bytes.subarray(macBytes).toString();
      const sentMac = bytes.subarray(0, macBytes);
      // Decoding skips what is not base64url, so the form is compared too.
      const authentic =
        sentMac.length === macBytes &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(sentMac, mac(endpoint, accountId, lastId));
      if (!authentic) {
        throw new Refusal(
          'invalid_request',
          'the cursor was not made by this list; send next_cursor unchanged',
        );
      }
      return lastId;
    },
  };
}
