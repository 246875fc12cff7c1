/** Telephones behind a trunk, on the loopback: a user agent that answers as each number says. */
import {
  createUserAgent,
  encodeG711,
  openNetwork,
  startMediaEngine,
  type Call,
  type IncomingCall,
  type LocalMedia,
  type MediaCall,
  type TlsSettings,
  type TransportName,
} from '@trunkcall/sip';

/** What a phone does with a call. */
export type Answering = (call: IncomingCall, phones: TrunkPhones) => void;

export interface TrunkPhones {
  readonly port: number;
  /** Numbers that were called, in order. */
  readonly called: string[];
  /** The INVITEs' headers of those calls. */
  readonly invites: IncomingCall[];
  /** Answered calls that are not over. */
  readonly live: ReadonlySet<Call>;
  /** Answers with media; `more` is told what is heard. */
  pickUp(
    call: IncomingCall,
    more?: (media: MediaCall, call: Call) => void,
    onKey?: (media: MediaCall, key: string) => void,
    onFrame?: (frame: Uint8Array) => void,
  ): Promise<void>;
  /** Sends 183 and plays the sound; resolves when it was played. */
  announce(call: IncomingCall, audio: Uint8Array): Promise<void>;
  close(): Promise<void>;
}

/** Starts the trunk's far end; `answering` is asked by the number that is called. */
export async function startPhones(
  answering: Readonly<Record<string, Answering>>,
  transport: TransportName = 'udp',
  tls: TlsSettings = {},
): Promise<TrunkPhones> {
  const network = await openNetwork({ listen: [{ transport, address: '127.0.0.1', port: 0, tls }] });
  const engine = startMediaEngine({ address: '127.0.0.1', ports: { first: 15_000, last: 19_999 } });
  const live = new Set<Call>();
  const agent = createUserAgent({
    network,
    allowSource: () => true,
    timers: { t1Ms: 50, t2Ms: 200, t4Ms: 250, timerDMs: 1_600 },
    onInvite(call) {
      const number = call.requestUri.scheme === 'other' ? '' : (call.requestUri.user ?? '');
      phones.called.push(number);
      phones.invites.push(call);
      const answer = answering[number];
      if (answer === undefined) call.reject(404);
      else answer(call, phones);
    },
  });
  const phones: TrunkPhones = {
    port: network.sentBy({ transport, address: '127.0.0.1', port: 0 })?.port ?? 0,
    called: [],
    invites: [],
    live,
    async pickUp(incoming, more, onKey, onFrame) {
      let media: MediaCall | undefined;
      const opened = await engine.open({
        idle: 'silence',
        ...(onFrame === undefined ? {} : { onFrame }),
        onEvent: (event) => {
          if (event.kind === 'key' && media !== undefined) onKey?.(media, event.key);
        },
      });
      if (opened.kind === 'refused') return incoming.reject(500);
      media = opened.call;
      incoming.ring();
      const outcome = await incoming.accept({
        media: mediaAt(media.port),
        onMedia: (agreed) => media?.connect(agreed),
      });
      if (outcome.kind !== 'answered') return void media.close();
      live.add(outcome.call);
      media.connect(outcome.media);
      more?.(media, outcome.call);
      await outcome.call.ended;
      live.delete(outcome.call);
      await media.close();
    },
    async announce(call, audio) {
      const opened = await engine.open({ idle: 'silence' });
      if (opened.kind === 'refused') return;
      const agreed = call.progress(mediaAt(opened.call.port));
      if (agreed === undefined) throw new Error('no early media');
      opened.call.connect(agreed);
      opened.call.play(audio);
      await opened.call.mark();
      await opened.call.close();
    },
    async close() {
      await agent.close(500);
      await engine.close();
    },
  };
  return phones;
}

const mediaAt = (port: number): LocalMedia => ({
  address: '127.0.0.1',
  port,
  codecs: ['PCMU', 'PCMA'],
  telephoneEvents: true,
  srtp: 'optional',
  rtcpMux: false,
});

/** µ-law sound of these frequencies together. */
export function tones(frequencies: readonly number[], milliseconds: number): Uint8Array {
  const wave = (at: number) =>
    frequencies.reduce((sum, hertz) => sum + 5_000 * Math.sin((2 * Math.PI * hertz * at) / 8_000), 0);
  return encodeG711(
    'PCMU',
    Int16Array.from({ length: milliseconds * 8 }, (_, at) => wave(at)),
  );
}

export const silence = (milliseconds: number) => new Uint8Array(milliseconds * 8).fill(0xff);

/** What an answering machine plays: a second of silence, the beep, silence. */
export function beep(): Uint8Array {
  return Buffer.concat([silence(1_000), tones([1_000], 600), silence(500)]);
}

/** What the network plays before an announcement, after a second of silence (ITU-T E.180). */
export function informationTones(): Uint8Array {
  return Buffer.concat([
    silence(1_000),
    ...[950, 1_400, 1_800].map((hertz) => tones([hertz], 330)),
    silence(500),
  ]);
}
