/** Whom the demonstration calls. The last two digits decide how a simulated person behaves. */
import type { NewRun } from '@trunkcall/sdk';

export interface Person extends NewRun {
  readonly name: string;
  /** File name of the Goal in examples/goals, without extension. */
  readonly goal: string;
  /** `any`: whoever answers there decides. */
  readonly expect: 'result' | 'any' | { readonly error: string; readonly detail: string };
}

const delivery = (lastDigits: string, name: string, expect: Person['expect']): Person => ({
  phone: `+120255501${lastDigits}`,
  name,
  goal: 'confirm-delivery',
  variables: { customer_name: 'Ada Lovelace', order_reference: 'A-1042' },
  expect,
});

export const people: readonly Person[] = [
  delivery('00', 'answers and cooperates', 'result'),
  delivery('12', 'talks over the agent', 'result'),
  delivery('11', 'has a keypad menu first', 'result'),
  delivery('01', 'lets it ring', { error: 'no_answer', detail: 'ring_timeout' }),
  delivery('02', 'is on the phone', { error: 'no_answer', detail: 'busy' }),
  delivery('03', 'declines', { error: 'declined', detail: 'declined' }),
  delivery('04', 'has voicemail', { error: 'no_answer', detail: 'voicemail' }),
  delivery('10', 'never wants to be called again', { error: 'result_unavailable', detail: 'opted_out' }),
];

/** A telephone of somebody who tries this out. */
export const ownTelephone: Person = delivery('00', 'your telephone', 'any');

/** Whom it calls over SIP: `phones.ts` answers. */
export const sipPeople: readonly Person[] = [
  delivery('00', 'presses keys', 'result'),
  delivery('02', 'is on the phone', { error: 'no_answer', detail: 'busy' }),
  delivery('03', 'declines', { error: 'declined', detail: 'declined' }),
  delivery('08', 'has no such number', { error: 'call_failed', detail: 'invalid_number' }),
  delivery('01', 'lets it ring', { error: 'no_answer', detail: 'ring_timeout' }),
];
