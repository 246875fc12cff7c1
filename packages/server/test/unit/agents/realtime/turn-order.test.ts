import { expect, it } from 'vitest';
import {
  beginTurn,
  changeTurn,
  endTurn,
  takeAllTurns,
  takeTurns,
  type TurnOrder,
} from '../../../../src/agents/realtime/turn-order.ts';

const begun = (...turns: readonly (readonly [key: string, speaker: 'bot' | 'user', offsetMs: number])[]) =>
  turns.reduce<TurnOrder>(
    (order, [key, speaker, offsetMs]) => beginTurn(order, { key, speaker, offsetMs }),
    [],
  );
const said = (order: TurnOrder, key: string) => changeTurn(order, key, { text: key, complete: true });
const textsAt = (order: TurnOrder, atMs: number) => takeTurns(order, atMs).turns.map(({ text }) => text);

it('a turn that began earlier comes first, although it was noticed later', () => {
  const order = said(said(begun(['late', 'bot', 900], ['early', 'user', 400]), 'late'), 'early');
  expect(textsAt(order, 1_000)).toEqual(['early', 'late']);
});

it('a turn waits for the words of the one before, and no longer than 8 s behind its end', () => {
  const order = endTurn(
    said(begun(['question', 'user', 0], ['answer', 'bot', 900]), 'answer'),
    'question',
    1_000,
  );
  expect(textsAt(order, 8_999)).toEqual([]);
  expect(textsAt(order, 9_000)).toEqual(['answer']);
  expect(textsAt(said(order, 'question'), 1_500)).toEqual(['question', 'answer']);
});

it('a turn that is going on holds up those behind it', () => {
  const order = said(begun(['going on', 'user', 0], ['answer', 'bot', 900]), 'answer');
  expect(textsAt(order, 60_000)).toEqual([]);
  expect(takeAllTurns(order).map(({ text }) => text)).toEqual(['answer']);
});

it('no more than 100 turns wait', () => {
  const turns = Array.from({ length: 150 }, (_, at) => [`t${at}`, 'user', at] as const);
  expect(takeTurns(begun(...turns), 0).order.length).toBe(100);
});
