/** A telephone on the loopback: answers calls over SIP, hears when the caller has finished, and presses keys by RFC 4733. */
import {
  createUserAgent,
  decodeG711,
  encodeG711,
  openNetwork,
  startMediaEngine,
  type Call,
  type CallOutcome,
  type Codec,
  type IncomingCall,
  type LocalMedia,
} from '@trunkcall/sip';
import { VoiceActivity } from '../../src/agents/audio/voice-activity.ts';

export interface SipCallee {
  readonly port: number;
  /** How its calls ended. */
  readonly ends: readonly string[];
  /** Calls `number` at our SIP instead of waiting for a call, and does the same; resolves when it is answered. */
  call(port: number, number: string): Promise<void>;
  /** Ends the calls that it has. */
  hangUp(): void;
  close(): Promise<void>;
}

export interface SipCalleeOptions {
  /** Keys to press as soon as the caller begins to speak for the first time. */
  readonly atOnce: string;
  /** Keys to press each time that the caller has fallen silent, after that. */
  readonly answers: readonly string[];
  /** What it plays as soon as it is connected: samples of 16 bits, 8,000 a second. */
  readonly plays?: Int16Array;
}

export async function startSipCallee({ atOnce, answers, plays }: SipCalleeOptions): Promise<SipCallee> {
  const network = await openNetwork({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] });
  const engine = startMediaEngine({ address: '127.0.0.1', ports: { first: 41_000, last: 41_999 } });
  const ends: string[] = [];
  const calls = new Set<Call>();
  const agent = createUserAgent({
    network,
    allowSource: () => true,
    onInvite: (call) => void answer(call),
  });

  async function answer(incoming: IncomingCall): Promise<void> {
    incoming.ring();
    await talk((media) => incoming.accept({ media }));
  }

  /** Over once it was answered; the call itself may go on. */
  async function talk(connect: (media: LocalMedia) => Promise<CallOutcome>): Promise<void> {
    const voice = new VoiceActivity();
    let codec: Codec = 'PCMU';
    const left = { began: [atOnce], ended: [...answers] };
    const opened = await engine.open({
      onFrame(frame) {
        const change = voice.next(decodeG711(codec, frame));
        const keys = change === null ? undefined : left[change].shift();
        if (keys === undefined || opened.kind === 'refused') return;
        opened.call.dial(keys);
        // What is still on its way was cut short by these keys, and is no answer to them.
        voice.reset();
      },
    });
    if (opened.kind === 'refused') throw new Error('no media port is free');
    const media = { address: '127.0.0.1', port: opened.call.port, codecs: ['PCMU', 'PCMA'] as const };
    const outcome = await connect({ ...media, telephoneEvents: true, srtp: 'never', rtcpMux: false });
    if (outcome.kind !== 'answered') return;
    ({ codec } = outcome.media);
    opened.call.connect(outcome.media);
    if (plays !== undefined) opened.call.play(encodeG711(codec, plays));
    calls.add(outcome.call);
    void outcome.call.ended.then(({ reason }) => {
      calls.delete(outcome.call);
      ends.push(reason);
      return opened.call.close();
    });
  }

  return {
    port: network.sentBy({ transport: 'udp', address: '127.0.0.1', port: 0 })?.port ?? 0,
    ends,
    call: (port, number) =>
      talk((media) => {
        const from = `sip:+12125550199@127.0.0.1`;
        return agent.call({ to: `sip:${number}@127.0.0.1:${port}`, from, media, ringLimitMs: 20_000 })
          .outcome;
      }),
    hangUp() {
      for (const call of calls) void call.hangup();
    },
    async close() {
      await agent.close();
      await engine.close();
    },
  };
}
