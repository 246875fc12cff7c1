/** Cuts a byte stream into messages by Content-Length (RFC 3261 §18.3). Holds at most one message. */

export type Frame =
  | { readonly kind: 'message'; readonly bytes: Buffer }
  /** A double CRLF between messages asks for a single one back (RFC 5626 §3.5.1). */
  | { readonly kind: 'ping' };

export type PushOutcome =
  | { readonly kind: 'frames'; readonly frames: readonly Frame[] }
  /** The stream can not be understood any more; frames before the flaw are still good. */
  | { readonly kind: 'broken'; readonly frames: readonly Frame[] };

const HEAD_END = '\r\n\r\n';
const CONTENT_LENGTH = /^(?:content-length|l)[ \t]*:[ \t]*(?:\r\n[ \t]+)?([^\r\n]*)/gim;

export class StreamFramer {
  readonly #maxBytes: number;
  #buffer: Buffer;
  #used = 0;
  /** No end of headers starts before this index. */
  #searched = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#buffer = Buffer.allocUnsafe(Math.min(4_096, maxBytes));
  }

  /** Bytes that wait for the rest of their message. */
  get pendingBytes(): number {
    return this.#used;
  }

  push(chunk: Buffer): PushOutcome {
    const frames: Frame[] = [];
    let at = 0;
    while (at < chunk.length) {
      const room = Math.min(this.#maxBytes - this.#used, chunk.length - at);
      if (room === 0) return { kind: 'broken', frames };
      this.#append(chunk.subarray(at, at + room));
      at += room;
      if (!this.#take(frames)) return { kind: 'broken', frames };
    }
    return { kind: 'frames', frames };
  }

  #append(bytes: Buffer): void {
    if (this.#used + bytes.length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(
        Math.min(this.#maxBytes, Math.max(this.#buffer.length * 2, this.#used + bytes.length)),
      );
      this.#buffer.copy(larger, 0, 0, this.#used);
      this.#buffer = larger;
    }
    bytes.copy(this.#buffer, this.#used);
    this.#used += bytes.length;
  }

  /** Takes every whole frame; false when the stream is broken. */
  #take(frames: Frame[]): boolean {
    for (;;) {
      this.#takeBlankLines(frames);
      const data = this.#buffer.subarray(0, this.#used);
      const headEnd = data.indexOf(HEAD_END, this.#searched);
      if (headEnd < 0) {
        this.#searched = Math.max(0, this.#used - HEAD_END.length + 1);
        return true;
      }
      this.#searched = headEnd;
      const length = contentLength(data.toString('latin1', 0, headEnd));
      if (length === undefined || headEnd + 4 + length > this.#maxBytes) return false;
      const end = headEnd + 4 + length;
      if (end > this.#used) return true;
      frames.push({ kind: 'message', bytes: Buffer.from(data.subarray(0, end)) });
      this.#consume(end);
    }
  }

  #takeBlankLines(frames: Frame[]): void {
    let at = 0;
    while (this.#buffer[at] === 13 && this.#buffer[at + 1] === 10 && at + 1 < this.#used) at += 2;
    if (at >= 4) frames.push({ kind: 'ping' });
    if (at > 0) this.#consume(at);
  }

  #consume(count: number): void {
    this.#buffer.copyWithin(0, count, this.#used);
    this.#used -= count;
    this.#searched = 0;
  }
}

/** Undefined when it is absent, doubled with another value, or no number: then nobody knows where the message ends. */
function contentLength(head: string): number | undefined {
  const values = new Set([...head.matchAll(CONTENT_LENGTH)].map((match) => (match[1] ?? '').trim()));
  const [value = ''] = values;
  return values.size === 1 && /^\d{1,9}$/.test(value) ? Number(value) : undefined;
}
