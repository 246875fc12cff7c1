/**
 * Telephones on this machine that Trunkcall calls over real SIP and RTP. The last two digits of the number decide what
 * a phone does: `00` answers and presses keys when the caller has finished a sentence, `02` is busy, `03` declines,
 * `08` is not assigned, the others let it ring.
 */
import {
  createUserAgent,
  decodeG711,
  openNetwork,
  startMediaEngine,
  type Codec,
  type IncomingCall,
} from '@trunkcall/sip';

export interface Phones {
  /** Of 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

/** What is pressed, one after the other: yes; the second choice; the 3rd of May; all of that is right. */
const presses = ['1', '2', '0503', '1'];
const refusals: Readonly<Record<string, number>> = { '02': 486, '03': 603, '08': 404 };

/** A caller who has spoken and is silent for this long, in frames of 20 ms, waits for an answer. */
const pauseFrames = 75;
const loud = 500;

export async function startPhones(): Promise<Phones> {
  const network = await openNetwork({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] });
  const engine = startMediaEngine({ address: '127.0.0.1' });
  const agent = createUserAgent({
    network,
    allowSource: () => true,
    onInvite(call) {
      const { requestUri } = call;
      const does = 'user' in requestUri ? (requestUri.user ?? '').slice(-2) : '';
      const refusal = refusals[does];
      if (refusal !== undefined) call.reject(refusal);
      else if (does === '00') void answer(call);
      else call.ring();
    },
  });

  async function answer(incoming: IncomingCall): Promise<void> {
    const left = [...presses];
    let codec: Codec = 'PCMU';
    let quiet = -1;
    const opened = await engine.open({
      onFrame(frame) {
        if (opened.kind === 'refused') return;
        if (level(decodeG711(codec, frame)) > loud) quiet = 0;
        else if (quiet >= 0) quiet += 1;
        if (quiet < pauseFrames) return;
        quiet = -1;
        const keys = left.shift();
        if (keys !== undefined) opened.call.dial(keys);
      },
    });
    if (opened.kind === 'refused') return incoming.reject(500);
    incoming.ring();
    const media = { address: '127.0.0.1', port: opened.call.port, codecs: ['PCMU', 'PCMA'] as const };
    const outcome = await incoming.accept({
      media: { ...media, telephoneEvents: true, srtp: 'never', rtcpMux: false },
    });
    if (outcome.kind !== 'answered') return;
    ({ codec } = outcome.media);
    opened.call.connect(outcome.media);
    await outcome.call.ended;
    await opened.call.close();
  }

  return {
    port: network.sentBy({ transport: 'udp', address: '127.0.0.1', port: 0 })?.port ?? 0,
    async close() {
      await agent.close();
      await engine.close();
    },
  };
}

/** Root mean square. */
function level(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}
