/** Talking to a draft with sound, over a real WebSocket in real time. */
import { spawnSync } from 'node:child_process';
import type { ConsoleGoal, GoalFile } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findEspeak } from '../../../src/agents/audio/espeak.ts';
import { createRealtimeAgent } from '../../../src/agents/realtime/realtime-agent.ts';
import { systemClock as clock } from '../../../src/platform/clock.ts';
import { loudnessOf, recognise, silence, speechOf } from '../../fakes/fixture-speech.ts';
import { startRealtimeServer, type RealtimeFake } from '../../fakes/realtime-server.ts';
import { scriptedModel } from '../../fakes/scripted-model.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { until } from '../../kit/until.ts';
import { startConsole, type ConsoleService, type Visitor } from './service.ts';
import { openTalk, type Talk } from './talk-client.ts';

const missing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (missing)
  process.stderr.write(
    'SKIPPED: talking to a draft with eSpeak NG. To run it: apt-get install -y espeak-ng\n',
  );

/** A microphone: 20 ms every 20 ms, of what is said and else of silence, until the connection is over. */
function microphone(talk: Talk): { say(text: string): Promise<void> } {
  let saying = new Uint8Array();
  let said: () => void = () => undefined;
  const over = new AbortController();
  void talk.closed.then(() => over.abort());
  const beat = async () => {
    const origin = clock.monotonic();
    for (
      let count = 1;
      await clock.sleep(Math.max(0, origin + count * 20 - clock.monotonic()), over.signal);
      count += 1
    ) {
      const speaks = saying.length > 0;
      talk.socket.send(speaks ? saying.subarray(0, 160) : silence('mu'));
      saying = saying.subarray(160);
      if (speaks && saying.length === 0) said();
    }
  };
  void beat();
  return {
    say(text) {
      saying = speechOf(text, 'mu').slice();
      return new Promise((resolve) => {
        said = resolve;
      });
    },
  };
}

async function begin(service: ConsoleService, author: Visitor, over: Partial<GoalFile>): Promise<Talk> {
  const path = `/accounts/${service.accountId}/goals`;
  const created = (await (await author.send('POST', path, goalFile(over))).json()) as ConsoleGoal;
  const talk = await openTalk(service, author, created.id);
  talk.send({ type: 'start', mode: 'spoken', variables: { name: 'Grace' } });
  await talk.next('answered');
  return talk;
}

const botTurns = (talk: Talk): number =>
  talk.messages.filter((message) => message.type === 'turn' && message.speaker === 'bot').length;

describe.skipIf(missing)('the scripted agent at a browser', () => {
  let service: ConsoleService;
  let author: Visitor;
  beforeAll(async () => {
    const synthesizer = await findEspeak({ clock });
    if (synthesizer === null) throw new Error('not found');
    service = await startConsole('embedded', { synthesizer });
    author = await service.person('author');
  });
  afterAll(() => service.close());

  test.concurrent('is heard in real time, is cut short by a key, and comes to a result', async () => {
    const talk = await begin(service, author, {});
    microphone(talk);
    const loud = () => talk.sound.filter((frame) => loudnessOf(frame, 'mu') > 300).length;
    await until(() => loud() >= 25, 'half a second of speech');
    expect(talk.sound.every((frame) => frame.length === 160)).toBe(true);
    const [from, at] = [talk.sound.length, clock.monotonic()];
    await until(() => talk.sound.length >= from + 50, 'a second of sound');
    const tookMs = clock.monotonic() - at;
    expect(tookMs).toBeGreaterThan(700);

    talk.send({ type: 'keys', digits: '1' });
    await talk.next('clear');
    const heard = await talk.next('turn');
    expect(heard).toMatchObject({ speaker: 'bot', interrupted: true });
    // Each question is heard out, and answered with its first key.
    const [over, turns] = [() => talk.messages.some(({ type }) => type === 'ended'), () => botTurns(talk)];
    for (let known = turns(); !over(); known = turns()) {
      await until(() => turns() > known || over(), 'the next words of the agent', 30_000);
      if (!over()) talk.send({ type: 'keys', digits: '1' });
    }
    await talk.next('ended');
    expect(await talk.next('result')).toMatchObject({ result: { confirmed: true }, error: null });
    expect(await talk.closed).toBe(1000);
  }, 60_000);

  test.concurrent('a page whose microphone is gone has lost its sound', async () => {
    const talk = await begin(service, author, {});
    expect(await talk.next('ended')).toMatchObject({ outcome: 'media_failed', ended_by: null });
    expect(await talk.next('result')).toMatchObject({ error: { detail_code: 'media_failed' } });
  }, 30_000);
});

describe('a realtime agent at a browser', () => {
  let service: ConsoleService;
  let author: Visitor;
  let provider: RealtimeFake;
  beforeAll(async () => {
    provider = await startRealtimeServer({
      newModel: () => scriptedModel(clock.now()),
      vocabulary: ['Hello?', 'Yes, it does.', 'Yes, that is right.'],
    });
    const { url, key: apiKey } = provider;
    const target = { dialect: 'openai', url, apiKey, model: null } as const;
    service = await startConsole('embedded', {
      moreAgents: [createRealtimeAgent({ clock, provider: target })],
    });
    author = await service.person('author');
  });
  afterAll(async () => {
    await service.close();
    await provider.close();
    if (provider.violations.length > 0) throw new Error(provider.violations.join('\n'));
  });

  test('hears the microphone, and its own sound comes back as it made it', async () => {
    const talk = await begin(service, author, { agent: { kind: 'realtime' } });
    const person = microphone(talk);
    await provider.connected();
    await person.say('Hello?');
    await until(() => talk.sound.length > 25, 'the first words of the agent');
    await until(() => talk.messages.some(({ type }) => type === 'turn'), 'a turn');
    expect(await talk.next('turn')).toMatchObject({ speaker: 'user', text: 'Hello?' });
    await until(() => talk.sound.length > 50, 'a second of sound');
    const asked = provider.sessions.at(-1)?.items.findLast(({ role }) => role === 'assistant')?.text ?? '';
    const others = ['Something else that nobody said.', 'Hello?'];
    expect(recognise(Buffer.concat(talk.sound), 'mu', [asked, ...others])).toBe(asked);
    talk.socket.terminate();
    await expect.poll(() => provider.sessions.filter((session) => session.live)).toEqual([]);
  }, 30_000);

  test('is hung up on when the page is gone, also while one types', async () => {
    const path = `/accounts/${service.accountId}/goals`;
    const sent = await author.send('POST', path, goalFile({ agent: { kind: 'realtime' } }));
    const talk = await openTalk(service, author, ((await sent.json()) as ConsoleGoal).id);
    talk.send({ type: 'start', mode: 'typed', variables: { name: 'Grace' } });
    talk.send({ type: 'say', text: 'Hello?' });
    await talk.next('answered');
    talk.send({ type: 'say', text: 'Hello?' });
    expect(await talk.heard()).toContain('automated assistant');
    talk.socket.terminate();
    await expect.poll(() => provider.sessions.filter((session) => session.live)).toEqual([]);
  }, 30_000);
});
