import type { SipMessage } from '../../src/message/message.ts';
import { branchOf } from '../../src/message/via.ts';
import type {
  Hop,
  Network,
  NetworkReceiver,
  NetworkStats,
  SendOutcome,
  Source,
  TransportName,
} from '../../src/transport/network.ts';
import type { HostPort } from '../../src/message/uri.ts';

/** `deliver` sends as usual, `lose` pretends to. */
export type Fate = 'deliver' | 'lose';

/** A real network with a listener in front: it sees every message that leaves, and may lose it. */
export class TappedNetwork implements Network {
  readonly sent: SipMessage[] = [];
  readonly received: SipMessage[] = [];
  readonly #inner: Network;
  /** Decides over each message that is to be sent. */
  judge: (message: SipMessage) => Fate = () => 'deliver';

  constructor(inner: Network) {
    this.#inner = inner;
  }

  get transports(): readonly TransportName[] {
    return this.#inner.transports;
  }
  canReach(hop: Hop): boolean {
    return this.#inner.canReach(hop);
  }
  sentBy(hop: Hop): HostPort | undefined {
    return this.#inner.sentBy(hop);
  }
  async sendRequest(message: SipMessage, hop: Hop): Promise<SendOutcome> {
    this.sent.push(message);
    return this.judge(message) === 'lose' ? { kind: 'sent' } : this.#inner.sendRequest(message, hop);
  }
  async sendResponse(message: SipMessage, source: Source): Promise<SendOutcome> {
    this.sent.push(message);
    return this.judge(message) === 'lose' ? { kind: 'sent' } : this.#inner.sendResponse(message, source);
  }
  receive(receiver: NetworkReceiver): void {
    this.#inner.receive({
      onMessage: (message, source) => {
        this.received.push(message);
        receiver.onMessage(message, source);
      },
      onMalformed: (answerable, status, source) => receiver.onMalformed(answerable, status, source),
    });
  }
  stats(): NetworkStats {
    return this.#inner.stats();
  }
  close(): Promise<void> {
    return this.#inner.close();
  }

  /** What left, in short: `INVITE`, `200 INVITE`. Repetitions of one message count once. */
  log(): string[] {
    return [...new Map(this.sent.map((message) => [identity(message), label(message)])).values()];
  }
}

/**
 * Loses messages at a rate, but never more than two copies of the same one, so that a test of retransmission
 * can not fail by bad luck.
 */
export function loseSome(rate: number, random: { next(): number }): (message: SipMessage) => Fate {
  const lost = new Map<string, number>();
  return (message) => {
    const key = identity(message);
    const before = lost.get(key) ?? 0;
    if (before >= 2 || random.next() >= rate) return 'deliver';
    lost.set(key, before + 1);
    return 'lose';
  };
}

export function label(message: SipMessage): string {
  return message.kind === 'request' ? message.method : `${message.status} ${message.cseq.method}`;
}

function identity(message: SipMessage): string {
  const [via] = message.via;
  const rseq = message.headers.get('RSeq') ?? '';
  return `${label(message)} ${via === undefined ? '' : branchOf(via)} ${rseq}`;
}
