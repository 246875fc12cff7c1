/**
 * A conversation on a leg at the level of sentences, by text: one thing at a time, we listen, the model thinks, we
 * speak. The leg's time goes on as fast as it likes only while we listen or speak.
 */
import type { Heard, Leg, SpeechMedia } from '../../carriers/carrier.ts';
import { leastWaitMs, type Conversation, type Side } from './conversation.ts';
import type { Effect } from './session.ts';

/** How long to listen when nothing else is due, milliseconds. */
const longWaitMs = 60_000;

type Deed = Extract<Effect, { kind: 'say' | 'press' }>;

export function speechSide(leg: Leg<SpeechMedia>, conversation: Conversation): Side {
  const { media, clock } = leg;
  const deeds: Deed[] = [];
  let busy = false;
  let ended = false;

  async function perform(deed: Deed): Promise<void> {
    if (deed.kind === 'press') return media.sendDigits(deed.keys);
    const { heard, startedAtMs, interrupted } = await media.say(deed.text);
    conversation.take({ kind: 'we_said', itemIds: deed.itemIds, heard, startedAtMs, interrupted });
  }

  async function listen(withinMs: number): Promise<void> {
    take(await media.hear(withinMs));
  }

  function take(heard: Heard): void {
    switch (heard.kind) {
      case 'utterance':
        return conversation.take({
          kind: 'callee_said',
          text: heard.text,
          startedAtMs: heard.startedAtMs,
          endedAtMs: heard.endedAtMs,
        });
      case 'beep':
      case 'information_tone':
        return conversation.take({ kind: heard.kind });
      case 'silence':
        return conversation.take({ kind: 'time' });
      case 'left':
        return conversation.take({ kind: 'left', playedMs: 0 });
    }
  }

  /** Does the one next thing; the session tells when that has settled. */
  function proceed(dueAtMs: number | null): void {
    if (busy) return;
    const deed = deeds.shift();
    const doing =
      deed !== undefined ? perform(deed) : ended || listensNow() ? listen(waitUntil(dueAtMs)) : null;
    if (doing === null) return conversation.wakeAt(dueAtMs);
    busy = true;
    conversation.wakeAt(null);
    void doing.finally(() => {
      busy = false;
      conversation.take({ kind: 'time' });
    });
  }

  function waitUntil(dueAtMs: number | null): number {
    return dueAtMs === null ? longWaitMs : Math.max(leastWaitMs, dueAtMs - clock.now());
  }

  function listensNow(): boolean {
    const { connection, asked, responseId, wanted, playing, connecting } = conversation.session;
    if (connecting) return false;
    return connection === 'up' && asked === null && responseId === null && wanted === null && !playing;
  }

  void leg.ended.then(() => {
    ended = true;
    conversation.take({ kind: 'time' });
  });

  return {
    playedMs: () => 0,
    lastSoundAtMs: () => clock.now(),
    connected: () => undefined,
    soundOf: (audio) => audio,
    legTimeOf: () => null,
    perform(effect) {
      if (effect.kind === 'say' || effect.kind === 'press') deeds.push(effect);
    },
    settled: proceed,
  };
}
