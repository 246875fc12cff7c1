/**
 * The offer/answer state of one dialog (RFC 3264, RFC 6337): what we offered, what both agreed on. Pure: a
 * forked call simply continues the same value in each of its branches.
 *
 *   idle ─offer─▶ offered ─answer─▶ agreed ─offer─▶ offered …
 *     └────────peer's offer, our answer────▲       (a peer's offer while `offered` is glare: 491)
 */

import { randomFraction, type Random } from '../random.ts';
import type { CryptoLine } from '../sdp/crypto.ts';
import { parseDescription, type SessionDescription, writeDescription } from '../sdp/description.ts';
import {
  answerOffer,
  type Direction,
  type LocalMedia,
  makeKeys,
  makeOffer,
  type NegotiatedMedia,
  type NegotiationFlaw,
  readAnswer,
} from '../sdp/negotiate.ts';

export interface Negotiation {
  readonly local: LocalMedia;
  readonly sessionId: string;
  readonly version: number;
  readonly keys: readonly CryptoLine[];
  /** What we want to do with the stream: `sendonly` while we hold. */
  readonly wanted: Direction;
  /** The offer of ours that waits for its answer: what it asks for, and the state to fall back to. */
  readonly pending?: { readonly before: Negotiation } | undefined;
  readonly media?: NegotiatedMedia | undefined;
  /** Our latest description. */
  readonly text: string;
}

export function startNegotiation(local: LocalMedia, random: Random): Negotiation {
  const sessionId = String(Math.floor(randomFraction(random) * 2 ** 31));
  return { local, sessionId, version: 0, keys: makeKeys(local, random), wanted: 'sendrecv', text: '' };
}

export interface Offered {
  readonly negotiation: Negotiation;
  readonly sdp: string;
}

/** Offers; `change` moves the media or its direction. The text is in `sdp`. */
export function offer(
  before: Negotiation,
  change: { readonly wanted?: Direction; readonly local?: LocalMedia } = {},
): Offered {
  const { wanted = before.wanted, local = before.local } = change;
  const written = describe({ ...before, wanted, local }, (origin) =>
    makeOffer(local, origin, wanted, before.keys),
  );
  return { negotiation: { ...written, pending: { before } }, sdp: written.text };
}

export type Taken =
  | { readonly kind: 'agreed'; readonly negotiation: Negotiation; readonly media: NegotiatedMedia }
  | { readonly kind: 'refused'; readonly flaw: NegotiationFlaw };

/** Takes the peer's answer to the pending offer. */
export function takeAnswer(negotiation: Negotiation, text: string): Taken {
  const answer = parseDescription(text);
  if (answer === undefined) return { kind: 'refused', flaw: 'malformed' };
  const read = readAnswer(answer, negotiation.local, negotiation.wanted, negotiation.keys);
  if (read.kind === 'refused') return read;
  return {
    kind: 'agreed',
    negotiation: { ...negotiation, pending: undefined, media: read.media },
    media: read.media,
  };
}

/** Takes the peer's offer; our answer is the `text` of the new state. */
export function takeOffer(negotiation: Negotiation, text: string): Taken {
  const offered = parseDescription(text);
  if (offered === undefined) return { kind: 'refused', flaw: 'malformed' };
  const { local, wanted, keys } = negotiation;
  const made = answerOffer(offered, local, originOf(negotiation), wanted, keys);
  if (made.kind === 'refused') return made;
  const written = describe(negotiation, (origin) => ({
    ...made.answer,
    origin: { ...made.answer.origin, ...origin },
  }));
  return { kind: 'agreed', negotiation: { ...written, media: made.media }, media: made.media };
}

/** Forgets an offer that was refused: what was agreed before stays in force (RFC 3261 §14.1). */
export function withdraw(negotiation: Negotiation): Negotiation {
  const before = negotiation.pending?.before;
  // The version is never used twice, even for an offer that came to nothing.
  return before === undefined ? negotiation : { ...before, version: negotiation.version, text: '' };
}

function originOf({ sessionId, version }: Negotiation): { sessionId: string; version: number } {
  return { sessionId, version };
}

/** Writes a description; its version is one more than the last when anything differs (RFC 3264 §8). */
function describe(
  negotiation: Negotiation,
  make: (origin: { sessionId: string; version: number }) => SessionDescription,
): Negotiation {
  const unchanged = writeDescription(make(originOf(negotiation)));
  if (unchanged === negotiation.text) return negotiation;
  const version = negotiation.version + 1;
  return {
    ...negotiation,
    version,
    text: writeDescription(make({ sessionId: negotiation.sessionId, version })),
  };
}
