import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { displayName, tagOf } from '../../src/message/address.ts';
import { parseMessage } from '../../src/message/parse.ts';
import { writeMessage } from '../../src/message/write.ts';
import { openAgent, until } from '../kit/agents.ts';
import { TORTURE } from './torture-messages.ts';

function parsed(name: string) {
  const found = TORTURE.find((candidate) => candidate.name === name);
  const outcome = parseMessage(found?.raw ?? Buffer.alloc(0));
  if (outcome.kind !== 'parsed') throw new Error(`${name} does not parse`);
  return outcome.message;
}

describe('RFC 4475', () => {
  test('has 49 cases, each with a name of its own', () => {
    expect(TORTURE).toHaveLength(49);
    expect(new Set(TORTURE.map(({ name }) => name)).size).toBe(49);
  });

  test.each(TORTURE)('$section $name ends as $parse', ({ raw, parse }) => {
    const outcome = parseMessage(raw);
    const ending =
      outcome.kind === 'parsed' ? 'parsed' : outcome.answerable === undefined ? 'dropped' : outcome.status;
    expect(ending).toBe(parse);
  });

  test.each(TORTURE.filter(({ parse }) => parse === 'parsed'))(
    '$name means the same after it was written again',
    ({ name }) => {
      const message = parsed(name);
      const again = parseMessage(writeMessage(message));
      expect(again).toEqual({ kind: 'parsed', message });
    },
  );

  test('folding, spaces, compact and repeated names of wsinv are read for what they mean', () => {
    const message = parsed('wsinv');
    expect(message.cseq).toEqual({ number: 9, method: 'INVITE' });
    expect(message.via.map(({ transport, host }) => `${transport} ${host}`)).toEqual([
      'UDP 192.0.2.2',
      'TCP spindle.example.com',
      'UDP 192.168.255.111',
    ]);
    expect(displayName(message.from)).toBe('A Bell \\"');
    expect(tagOf(message.to)).toBe('1918181833n');
    expect(message.headers.get('Subject')).toBe('');
    expect(message.headers.get('NewFangledHeader')).toBe('newfangled value continued newfangled value');
  });

  test('bytes behind the Content-Length of a datagram are ignored', () => {
    expect(parsed('dblreq')).toMatchObject({ method: 'REGISTER', body: Buffer.alloc(0) });
  });

  test('escaped characters stay as they were written', () => {
    expect(parsed('esc01')).toMatchObject({
      uri: { user: 'sips%3Auser%40example.com', host: 'example.net' },
    });
  });

  test('an agent answers each request that parses, and survives all 49', async () => {
    await using callee = await openAgent({ transport: 'tcp', onInvite: (call) => call.reject(486) });
    const answers: Record<string, number> = {};
    const expected: Record<string, number> = {};
    for (const { name, raw, answer } of TORTURE.filter((candidate) => candidate.answer !== undefined)) {
      const socket = connect(callee.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      await once(socket, 'connect');
      socket.write(raw);
      await until(() => text.includes('\r\n\r\n'), `an answer to ${name}`);
      socket.destroy();
      answers[name] = Number(/^SIP\/2\.0 (\d+)/.exec(text)?.[1]);
      expected[name] = answer ?? 0;
    }
    expect(answers).toEqual(expected);
    expect(callee.agent.stats().dialogs).toBe(0);
  });
});
