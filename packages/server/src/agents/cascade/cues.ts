/** What the chat model is told: the standing prompt of all agents, and what the moment asks for. */
import type { Brief } from '../agent.ts';
import { promptFor } from '../prompt.ts';

export type Cue = 'opening' | 'answer' | 'robot' | 'menu' | 'go_on' | 'not_connected' | 'late';

/** The first sentence of an inbound call is as much ours as that of another. */
const answeredOpening =
  'The first sentence, which says whose automated assistant answers, has just been spoken for you. Do not repeat it. ' +
  'If the person asked something, answer it. Say in one sentence what you can do for them, and ask your first question.';

const moments: Readonly<Record<Cue, string>> = {
  opening:
    'The first sentence, which says who is calling, has just been spoken for you. ' +
    'Do not repeat it. If the person asked something, answer it. Say in one sentence what it is about, and ask your first question.',
  answer:
    'You have introduced yourself; do not do it again. Answer what the person said last, and go on with your task.',
  robot:
    'It has just been said for you that you are an automated assistant. Do not repeat it; go on with your task.',
  menu: 'An automatic menu is speaking. Press the key that leads to a person, and say nothing.',
  go_on:
    'What you wrote down is kept; keys can only be pressed when a menu names them. Speak now: go on with your task.',
  not_connected: 'You have introduced yourself; do not do it again.',
  late:
    'The time of this call is up. Ask nothing and begin nothing new. Write down what the person said, thank the person, ' +
    'say goodbye and call end_call.',
};

/**
 * The one system message of a request. What the moment asks for stands in it, and not among the words of the
 * callee: there anybody could say it. (And many servers take a system message in the first place only.)
 */
export function systemMessage(brief: Brief, cue: Cue, fact: string | null): string {
  const moment = cue === 'opening' && brief.direction === 'inbound' ? answeredOpening : moments[cue];
  const now = fact === null ? moment : `${moment} ${fact}`;
  return `${promptFor(brief).standing}\n\n# Now\n${now}`;
}
