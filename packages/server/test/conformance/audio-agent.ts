/**
 * What every agent must do on a leg that carries sound (`src/agents/agent.ts`, A1–A5), with callees who answer by
 * keys.
 */
import type { ResultSchema } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Agent, Turn } from '../../src/agents/agent.ts';
import type { Synthesizer } from '../../src/agents/audio/synthesizer.ts';
import { audioCarrier, type AudioLine, type Callee } from '../kit/audio-callee.ts';
import { briefFor, deliverySchema, talk, type CallOptions } from './hold-call.ts';

export interface AudioAgentUnderTest {
  /** Makes the agent with a synthesizer that the test's line understands. */
  readonly agent: (synthesizer: Synthesizer) => Agent;
  readonly locales: readonly { readonly locale: string; readonly automated: RegExp }[];
  /** Somebody who answers all questions of `deliverySchema` in English, with 2026-11-24 for the day. */
  readonly cooperative: Callee;
}

/** The callees of these tests that any agent must cope with. */
const silent: Callee = async () => undefined;
const talkative: Callee = async (line) => {
  while (await line.time.sleep(1_500)) await line.speak(2_000);
};
const voicemail: Callee = async (line) => {
  await line.time.sleep(500);
  await line.speak(7_000);
  await line.time.sleep(800);
  line.beep();
};
const presser: Callee = async (line) => {
  while (await line.time.sleep(300)) await line.press('7#*0');
};

export function audioAgentConformance(name: string, build: () => AudioAgentUnderTest): void {
  async function call(
    callee: Callee,
    over: Omit<CallOptions, 'agent' | 'carrier'> & { law?: 'mu' | 'a' } = {},
  ) {
    const { carrier, synthesizer } = audioCarrier(callee, over.law);
    return talk({ ...over, agent: build().agent(synthesizer), carrier });
  }

  describe(`the agent ${name} on a line`, () => {
    it('A1: its first sentence says that it is automated and for whom it calls, in every locale', async () => {
      for (const { locale, automated } of build().locales) {
        const { turns } = await call(silent, { locale });
        const first = turns.find(({ speaker }) => speaker === 'bot')?.text.split(/(?<=[.!?])\s/)[0] ?? '';
        expect(first).toMatch(automated);
        expect(first).toContain('Parcel Post');
        const kept = (await call(silent, { locale, disclosure: false })).turns.find(
          ({ speaker }) => speaker === 'bot',
        );
        expect(kept?.text).not.toMatch(automated);
        expect(kept?.text).toContain('Parcel Post');
      }
    });

    it('A1: when it is interrupted in that sentence it says it again', async () => {
      const { locales, cooperative } = build();
      for (const interrupt of [(line: AudioLine) => line.press('1'), (line: AudioLine) => line.speak(900)]) {
        const { turns } = await call(async (line) => {
          void cooperative(line);
          await line.until(() => line.playingMs >= 800);
          await interrupt(line);
        });
        const [first, second] = turns.filter(({ speaker }) => speaker === 'bot');
        expect(first).toMatchObject({ interrupted: true });
        expect(first?.text).not.toContain('Parcel Post');
        expect(second?.text).toMatch(locales[0]?.automated ?? /^$/);
        expect(second?.text).toContain('Parcel Post');
      }
    });

    it('A2: it ends by itself with everybody who answers, and leaves hanging up to us', async () => {
      for (const callee of [build().cooperative, silent, talkative, voicemail, presser]) {
        const held = await call(callee, { callLimitMs: 600_000 });
        expect(held).toMatchObject({ limitReached: false, legEnd: { reason: 'hung_up', endedBy: 'us' } });
        expect(held.end.kind).not.toBe('failed');
        expect(held.turns.length).toBeLessThan(150);
      }
    });

    it('A2: it ends when the callee leaves, while it speaks and while it listens', async () => {
      for (const atMs of [0, 2_500, 4_000, 26_000]) {
        const held = await call(async (line) => {
          await line.time.sleep(atMs);
          line.hangUp();
        });
        expect(held.end).toEqual({ kind: 'callee_left' });
      }
    });

    it('A2: it ends with the leg when the call limit ends it', async () => {
      const held = await call(talkative, { callLimitMs: 9_000, wrapUpAtMs: 60_000 });
      expect(held).toMatchObject({ limitReached: true, lengthMs: 9_000, end: { kind: 'callee_left' } });
    });

    it('A2: it ends when its signal aborts, before and in the middle of the talk', async () => {
      for (const atMs of [0, 3_000, 12_000]) {
        const { carrier, synthesizer } = audioCarrier(silent);
        const stop = new AbortController();
        const placed = await carrier.place(...anyOrder());
        if (placed.kind === 'ended') throw new Error('not answered');
        if (atMs === 0) stop.abort();
        else void placed.leg.clock.sleep(atMs).then(() => stop.abort());
        const brief = briefFor({ resultSchema: deliverySchema });
        const agent = build().agent(synthesizer);
        const end = await agent.converse(
          brief,
          placed.leg,
          { turn: () => undefined, optedOut: () => undefined, answeredBy: () => undefined },
          stop.signal,
        );
        expect(end.kind).toBe('failed');
        await placed.leg.hangUp();
      }
    });

    it('A3: turns come in order, as heard, with times of the leg', async () => {
      for (const callee of [build().cooperative, talkative, presser, voicemail]) {
        const { turns, lengthMs } = await call(callee);
        const offsets = turns.map(({ offsetMs }) => offsetMs);
        expect(offsets).toEqual([...offsets].sort((a, b) => a - b));
        expect(Math.max(...offsets)).toBeLessThanOrEqual(lengthMs);
        expect(turns.every(({ text }) => text !== '')).toBe(true);
      }
      const left = await call(async (line) => {
        await line.until(() => line.playing.includes('Parcel Post') && line.playingMs >= 1_500);
        line.hangUp();
      });
      const cut = left.turns.findLast(({ speaker }) => speaker === 'bot');
      expect(cut?.interrupted).toBe(true);
      expect(cut?.text).not.toBe('');
      expect(cut?.text).not.toMatch(/[.?!]$/);
    });

    it('A3: what was understood quotes the turn that it comes from', async () => {
      const { turns } = await call(build().cooperative);
      const answers = turns.filter(({ notes }) => notes.length > 0);
      expect(answers.length).toBeGreaterThanOrEqual(3);
      for (const { speaker, text, notes } of answers) {
        expect(speaker).toBe('user');
        const quotes = notes.map((note) => (note.kind === 'answer' ? note.quote : ''));
        expect(quotes.every((quote) => quote !== '' && text.includes(quote))).toBe(true);
      }
    });

    it('A3: it says how long the callee waited for its answers, and for what', async () => {
      const { turns } = await call(build().cooperative);
      const answers = turns.flatMap(({ speaker, latency }, at) =>
        speaker === 'bot' && turns[at - 1]?.speaker === 'user' ? [latency] : [],
      );
      expect(answers.length).toBeGreaterThanOrEqual(4);
      for (const latency of answers) {
        if (latency === null) throw new Error('an answer that nobody waited for');
        const { total_ms: total, ...parts } = latency;
        expect(Object.values(parts).reduce<number>((sum, part) => sum + (part ?? 0), 0)).toBe(total);
        expect(total).toBeLessThan(5_000);
      }
      expect(Math.max(...answers.map((latency) => latency?.total_ms ?? 0))).toBeGreaterThan(0);
      expect(turns.every(({ speaker, latency }) => speaker === 'bot' || latency === null)).toBe(true);
      expect((await call(silent)).turns.every(({ latency }) => latency === null)).toBe(true);
    });

    it('brings home what a cooperative person answers, in both laws', async () => {
      for (const law of ['mu', 'a'] as const) {
        const { end, drawn } = await call(build().cooperative, { law });
        expect(end).toEqual({ kind: 'finished' });
        expect(drawn).toMatchObject({
          kind: 'result',
          result: { somebody_home: true, part_of_day: 'evening', delivery_day: '2026-11-24' },
        });
      }
    });

    it('A4: when time is up it asks nothing new, says goodbye and ends', async () => {
      const wrapUpAtMs = 25_000;
      const { turns, end, lengthMs } = await call(build().cooperative, { wrapUpAtMs });
      expect(end).toEqual({ kind: 'finished' });
      expect(lengthMs).toBeLessThan(60_000);
      const late = turns.filter(({ speaker, offsetMs }) => speaker === 'bot' && offsetMs >= wrapUpAtMs);
      expect(late.length).toBeGreaterThan(0);
      expect(late.some(({ text }) => text.includes('?'))).toBe(false);
    });

    it('A4: even when time is up before it began, it says who calls and then goodbye', async () => {
      const { turns, end } = await call(silent, { wrapUpAtMs: 0 });
      const words = botWords(turns);
      expect(words).toMatch(build().locales[0]?.automated ?? /^$/);
      expect(words).not.toContain('?');
      expect(end).toEqual({ kind: 'finished' });
    });

    it('A5: keys that nobody asked for answer nothing', async () => {
      const { drawn } = await call(presser, { callLimitMs: 600_000 });
      expect(drawn.kind).toBe('error');
    });

    it('follows the Goal when a machine answers: hangs up, or speaks after the beep', async () => {
      expect((await call(voicemail)).end).toEqual({ kind: 'machine', did: 'hang_up' });
      const { end, turns } = await call(voicemail, { machine: 'leave_message', title: 'Your appointment' });
      expect(end).toEqual({ kind: 'machine', did: 'leave_message' });
      const message = turns.find(({ speaker }) => speaker === 'bot');
      expect(message).toMatchObject({ interrupted: false });
      expect(message?.text).toContain('Your appointment');
      expect(message?.offsetMs).toBeGreaterThanOrEqual(8_300);
      expect(turns[0]).toMatchObject({ speaker: 'unknown' });
    });

    it('A6: hangs up at the tones of an announcement, and tells who answered', async () => {
      const announces: Callee = async (line) => {
        await line.time.sleep(1_000);
        line.informationTone();
        await line.time.sleep(60_000);
      };
      const { end, answers, turns, lengthMs } = await call(announces, { machine: 'leave_message' });
      expect({ end, answers, turns }).toEqual({
        end: { kind: 'machine', did: 'hang_up' },
        answers: ['announcement'],
        turns: [],
      });
      expect(lengthMs).toBeLessThan(1_500);
      expect((await call(voicemail)).answers).toEqual(['voicemail']);
      expect((await call(build().cooperative)).answers.at(-1)).toBe('human');
    });

    it('A6: says nothing over the first words, and begins 2 s after the answer when there are none', async () => {
      const offsets = async (callee: Callee) => {
        const { turns } = await call(callee);
        return turns.flatMap(({ speaker, offsetMs }) => (speaker === 'bot' ? [offsetMs] : []));
      };
      const [alone = 0] = await offsets(silent);
      expect(alone).toBeGreaterThanOrEqual(2_000);
      expect(alone).toBeLessThan(2_500);
      const [behind = 0] = await offsets(async (line) => {
        await line.time.sleep(1_500);
        await line.speak(2_000);
        await line.time.sleep(60_000);
      });
      expect(behind).toBeGreaterThanOrEqual(3_500);
    });

    it('ends as failed, and not in silence, when it can not speak', async () => {
      const broken: Synthesizer = { speak: async () => ({ kind: 'failed', note: 'no voice' }) };
      const { carrier } = audioCarrier(silent);
      const { end } = await talk({ agent: build().agent(broken), carrier });
      expect(end).toEqual({ kind: 'failed', note: 'no voice' });
    });
  });
}

function botWords(turns: readonly Turn[]): string {
  return turns.flatMap(({ speaker, text }) => (speaker === 'bot' ? [text] : [])).join(' ');
}

function anyOrder() {
  const resultSchema: ResultSchema = deliverySchema;
  return [
    {
      attemptId: 'att_test',
      to: '+12125550100',
      from: null,
      ringLimitMs: 30_000,
      locale: 'en-US',
      simulation: { resultSchema, callees: [] },
    },
    { progress: () => undefined },
    new AbortController().signal,
  ] as const;
}
