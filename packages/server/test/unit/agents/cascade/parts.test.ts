import { describe, expect, it } from 'vitest';
import { createCascadeAgent } from '../../../../src/agents/cascade/cascade-agent.ts';
import { cascadeParts } from '../../../../src/agents/cascade/parts.ts';
import { ConfigError, readConfig } from '../../../../src/config.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { createProviderKeys } from '../../../../src/platform/key-watch.ts';

const agentOf = (env: Readonly<Record<string, string>>) =>
  createCascadeAgent(cascadeParts(readConfig(env), systemClock, createProviderKeys(systemClock)));

const chat = { TRUNKCALL_CHAT_URL: 'http://127.0.0.1:8000/v1', TRUNKCALL_CHAT_MODEL: 'm' };
const all = { ...chat, TRUNKCALL_TRANSCRIBE_API_KEY: 'k', TRUNKCALL_SPEECH_API_KEY: 'k' };

describe('the settings of the cascade agent', () => {
  it('names each variable that is missing, for the legs that need it', () => {
    expect(agentOf({}).problems('en-US', 'audio')).toEqual([
      expect.stringContaining('TRUNKCALL_CHAT_API_KEY'),
      expect.stringContaining('TRUNKCALL_TRANSCRIBE_API_KEY'),
      expect.stringContaining('TRUNKCALL_SPEECH_API_KEY'),
    ]);
    expect(agentOf({ TRUNKCALL_CHAT_API_KEY: 'k' }).problems('en-US', 'speech')).toEqual([
      'TRUNKCALL_CHAT_MODEL is not set',
    ]);
    expect(agentOf(chat).problems('en-US', 'speech')).toEqual([]);
    expect(agentOf(all).problems('es-MX', 'audio')).toEqual([]);
  });

  it('is not content with a URL of the wrong protocol, or a voice that has no default', () => {
    const problems = (over: Readonly<Record<string, string>>) =>
      agentOf({ ...all, ...over }).problems('en', 'audio');
    expect(problems({ TRUNKCALL_TRANSCRIBE_KIND: 'deepgram' })).toEqual([]);
    expect(
      problems({ TRUNKCALL_TRANSCRIBE_KIND: 'deepgram', TRUNKCALL_TRANSCRIBE_URL: 'https://x.test' }).join(),
    ).toContain('TRUNKCALL_TRANSCRIBE_URL');
    expect(problems({ TRUNKCALL_TRANSCRIBE_URL: 'wss://x.test' }).join()).toContain(
      'TRUNKCALL_TRANSCRIBE_URL',
    );
    expect(problems({ TRUNKCALL_SPEECH_URL: 'wss://x.test' }).join()).toContain('TRUNKCALL_SPEECH_URL');
    expect(problems({ TRUNKCALL_SPEECH_KIND: 'cartesia' }).join()).toContain('TRUNKCALL_SPEECH_VOICE');
    expect(problems({ TRUNKCALL_SPEECH_KIND: 'cartesia', TRUNKCALL_SPEECH_VOICE: 'v' })).toEqual([]);
    expect(
      problems({ TRUNKCALL_SPEECH_KIND: 'cartesia', TRUNKCALL_SPEECH_URL: 'https://x.test' }).join(),
    ).toContain('TRUNKCALL_SPEECH_URL');
  });

  it('refuses a key in a URL, and never repeats a key', () => {
    expect(() => readConfig({ TRUNKCALL_CHAT_URL: 'https://x.test/v1?key=s3cret' })).toThrow(ConfigError);
    expect(() => readConfig({ TRUNKCALL_CHAT_API_KEY: 's3cret with blanks' })).toThrow(/\(hidden\)/);
  });
});

it('a rejected key makes the agent not ready; the part that uses it decides where', () => {
  const keys = createProviderKeys(systemClock);
  const agent = createCascadeAgent(cascadeParts(readConfig(all), systemClock, keys));
  keys.speech.saw(401);
  expect(agent.problems('en-US', 'speech')).toEqual([]);
  expect(agent.problems('en-US', 'audio')).toEqual([
    'the provider rejected the key in TRUNKCALL_SPEECH_API_KEY',
  ]);
});
