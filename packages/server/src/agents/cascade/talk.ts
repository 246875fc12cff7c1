/** Holds a conversation: does what the dialogue decides (`dialogue.ts`), with a chat model and a floor to speak on. */
import type { TurnLatency } from '@trunkcall/contract';
import type { LegClock } from '../../carriers/carrier.ts';
import type { Brief, ConversationEnd, Note } from '../agent.ts';
import { latencyOf } from '../latency.ts';
import { keysTurn, transferTurn } from '../marks.ts';
import { withNote } from '../notes.ts';
import { tellAnswer } from '../who-answered.ts';
import { readToolCall, toolsFor, type ToolUse, type ToolCall } from '../tools.ts';
import { systemMessage } from './cues.ts';
import { begin, nextStep, type Act, type DialogueEvent, type Script, type Step } from './dialogue.ts';
import type { ConversationFloor, Said } from './floor.ts';
import { History } from './history.ts';
import type { ChatModel } from './ports.ts';
import { askModel, type Reply } from './reply.ts';
import type { TurnLog } from './turn-log.ts';

export interface Talk {
  readonly brief: Brief;
  readonly script: Script;
  readonly clock: LegClock;
  readonly floor: ConversationFloor;
  readonly model: ChatModel;
  /** In place of the configured model. */
  readonly modelName: string | null;
  /** What to say when the model is late; null says nothing. */
  readonly filler: string | null;
  readonly log: TurnLog;
  readonly wait: Wait;
  /** Aborts when the conversation is over, whoever ends it. */
  readonly signal: AbortSignal;
}

/** The callee's wait for our answer, until something of it was heard. */
export class Wait {
  #callee: { readonly stoppedAtMs: number; readonly decidedAtMs: number } | null = null;
  #modelAtMs: number | null = null;

  begin(stoppedAtMs: number, decidedAtMs: number): void {
    this.#callee = { stoppedAtMs, decidedAtMs };
    this.#modelAtMs = null;
  }

  /** What we say next answers nobody. */
  drop(): void {
    this.#callee = null;
  }

  /** The model's words for what is said next have begun to come. */
  words(atMs: number): void {
    this.#modelAtMs ??= atMs;
  }

  /** Something of ours was heard. */
  end(sound: Said['sound']): TurnLatency | null {
    const callee = this.#callee;
    this.#callee = null;
    if (callee === null || sound === null) return null;
    const { madeAtMs: soundAtMs, playedAtMs } = sound;
    return latencyOf({ ...callee, modelAtMs: this.#modelAtMs, soundAtMs, playedAtMs });
  }
}

/** How long a person waits for an answer before a filler helps, milliseconds. */
const fillerAfterMs = 1_500;

export async function holdTalk(talk: Talk): Promise<ConversationEnd> {
  const history = new History();
  for (let step = begin(talk.script, talk.clock.now()); ;) {
    if (step.act.kind === 'end') return step.act.end;
    const event = await perform(talk, history, step.act);
    if (talk.signal.aborted) return { kind: 'failed', note: 'aborted' };
    if (event === 'left') return leftBy(step);
    const { answer } = step.dialogue;
    step = nextStep(talk.script, step.dialogue, event.event);
    tellAnswer(talk.log, answer, step.dialogue.answer);
    if (event.turn !== null) {
      const notes = step.note === null ? [] : [step.note];
      talk.log.hold({ ...event.turn, speaker: step.speaker, notes, latency: null });
      if (step.act.kind !== 'reply') talk.log.release([]);
    }
  }
}

/** A callee who leaves during our goodbye has left; that they opted out, or are a machine, stays true. */
function leftBy({ dialogue: { end } }: Step): ConversationEnd {
  return end === null || end.kind === 'finished' ? { kind: 'callee_left' } : end;
}

interface Happened {
  readonly event: DialogueEvent;
  /** What the callee said. */
  readonly turn: { readonly text: string; readonly offsetMs: number; readonly interrupted: false } | null;
}

async function perform(
  talk: Talk,
  history: History,
  act: Exclude<Act, { kind: 'end' }>,
): Promise<Happened | 'left'> {
  switch (act.kind) {
    case 'listen':
      return listen(talk, history, act.withinMs);
    case 'say':
      return only(await say(talk, history, act.sentences));
    case 'press':
      await talk.floor.press(act.keys);
      talk.log.did(keysTurn(act.keys, talk.clock.now()));
      return only({ kind: 'pressed' });
    case 'transfer':
      return transfer(talk, act.to);
    case 'reply':
      return only(await reply(talk, history, act));
  }
}

async function transfer(talk: Talk, to: string): Promise<Happened | 'left'> {
  const outcome = (await talk.brief.transfer?.connect(to)) ?? { kind: 'failed', why: 'not_allowed' };
  if (outcome.kind === 'failed' && outcome.why === 'left') return 'left';
  if (outcome.kind === 'connected') talk.log.did(transferTurn(to, talk.clock.now()));
  return only({ kind: 'transferred', outcome, late: isLate(talk) });
}

function only(event: DialogueEvent): Happened {
  return { event, turn: null };
}

function isLate({ brief, clock }: Talk): boolean {
  return clock.now() >= brief.wrapUpAtMs;
}

async function listen(talk: Talk, history: History, patienceMs: number): Promise<Happened | 'left'> {
  const leftMs = talk.brief.wrapUpAtMs - talk.clock.now();
  const heard = await talk.floor.hear(leftMs > 0 ? Math.min(patienceMs, leftMs) : patienceMs);
  switch (heard.kind) {
    case 'left':
      return 'left';
    case 'beep':
    case 'information_tone':
      return only({ kind: heard.kind });
    case 'failed':
      return only({ kind: 'failed', part: 'ears', note: heard.note });
    case 'silence':
      talk.wait.drop();
      return only({ kind: 'silence', late: isLate(talk) });
    case 'utterance':
      history.heard(heard.text);
      talk.wait.begin(heard.endedAtMs, talk.clock.now());
      return {
        event: {
          kind: 'heard',
          text: heard.text,
          lastedMs: heard.endedAtMs - heard.startedAtMs,
          late: isLate(talk),
        },
        turn: { text: heard.text, offsetMs: heard.startedAtMs, interrupted: false },
      };
  }
}

async function say(talk: Talk, history: History, sentences: readonly string[]): Promise<DialogueEvent> {
  talk.log.speaking(() => talk.floor.heardSoFar());
  const said = await talk.floor.say(inOrder(sentences));
  report(talk, said);
  history.said(said.spoken.heard, said.spoken.interrupted);
  return spokenEvent(talk, said, [], false);
}

async function* inOrder(sentences: readonly string[]): AsyncGenerator<string> {
  yield* sentences;
}

/** Asks the model and says its answer while it is being written. */
async function reply(
  talk: Talk,
  history: History,
  act: Extract<Act, { kind: 'reply' }>,
): Promise<DialogueEvent> {
  const { brief, clock, floor, log, wait } = talk;
  const targets = brief.transfer?.targets ?? [];
  const stop = new AbortController();
  const answer = askModel(
    talk.model,
    {
      model: talk.modelName,
      messages: history.with(systemMessage(brief, act.cue, act.fact)),
      tools: toolsFor(brief),
    },
    {
      // What is said before it does not wait for the model.
      words: () => (act.lead.length === 0 || act.quiet ? wait.words(clock.now()) : undefined),
      call: (call) => (call.name === 'opt_out' ? log.optedOut() : undefined),
    },
    AbortSignal.any([stop.signal, talk.signal]),
  );
  const lastHeard = history.lastHeard;
  const uses: { call: ToolCall; use: ToolUse }[] = [];
  const outcome = answer.outcome.then((whole) => {
    for (const call of whole.calls) uses.push({ call, use: readToolCall(call, brief.resultSchema, targets) });
    log.release(notesOf(uses, lastHeard));
    return whole;
  });
  const words = { given: false };
  log.speaking(() => floor.heardSoFar());
  const said = await floor.say(spokenOf(talk, act, answer, words));
  stop.abort();
  const { failure } = await outcome;
  report(talk, said);
  const { heard, interrupted } = said.spoken;
  if (uses.length === 0) history.said(heard, interrupted);
  else
    history.used(
      heard,
      uses.map(({ call, use }) => ({ call, outcome: outcomeOf(use) })),
    );
  const optedOut = uses.some(({ use }) => use.kind === 'opt_out');
  if (said.failure === null && failure !== null && !interrupted && !optedOut) {
    return { kind: 'failed', part: 'model', note: failure.note };
  }
  return spokenEvent(
    talk,
    said,
    uses.map(({ use }) => use),
    !words.given,
  );
}

/** What is said for an answer: what leads it, then the model's sentences but those that have no place. */
async function* spokenOf(
  talk: Talk,
  { lead, quiet, closing }: Extract<Act, { kind: 'reply' }>,
  answer: Reply,
  words: { given: boolean },
): AsyncGenerator<string> {
  const { texts, callerName } = talk.script;
  const disclosure = texts.disclosure(callerName);
  if (!quiet) yield* lead;
  for await (const sentence of withFiller(talk, answer.sentences)) {
    // We said that ourselves; and when time is up nothing is asked (A4).
    if (sentence === disclosure || (closing && sentence.includes('?'))) continue;
    if (quiet && !words.given) yield* lead;
    words.given = true;
    yield sentence;
  }
}

/** The sentences, with a filler before the first one when it is late. */
async function* withFiller(
  { filler, clock }: Talk,
  sentences: AsyncIterable<string>,
): AsyncGenerator<string> {
  if (filler === null) return yield* sentences;
  const iterator = sentences[Symbol.asyncIterator]();
  const first = iterator.next();
  const done = new AbortController();
  const late = await Promise.race([first.then(() => false), clock.sleep(fillerAfterMs, done.signal)]);
  done.abort();
  if (late) yield filler;
  for (let next = await first; next.done !== true; next = await iterator.next()) yield next.value;
}

/** What is to be kept about the callee's words. A quote that they did not say proves nothing. */
function notesOf(uses: readonly { readonly use: ToolUse }[], heard: string): readonly Note[] {
  return uses.reduce<readonly Note[]>((notes, { use }) => {
    if (use.kind === 'opt_out') return withNote(notes, { kind: 'opted_out' });
    return use.kind === 'note' && heard.includes(use.note.quote) ? withNote(notes, use.note) : notes;
  }, []);
}

function outcomeOf(use: ToolUse): string {
  switch (use.kind) {
    case 'unusable':
      return use.why;
    case 'press_keys':
      return 'Keys are pressed only when a menu has just named them.';
    case 'note':
    case 'end_call':
    case 'opt_out':
    case 'report_machine':
      return 'Done.';
    case 'transfer':
      return 'They are called when this was heard.';
  }
}

function report({ log, wait }: Talk, { spoken, sound }: Said): void {
  const { heard, startedAtMs, interrupted } = spoken;
  log.speaking(null);
  if (heard === '') return;
  log.said({ text: heard, offsetMs: startedAtMs, interrupted, latency: wait.end(sound) });
}

function spokenEvent(
  talk: Talk,
  { spoken, failure }: Said,
  uses: readonly ToolUse[],
  wordless: boolean,
): DialogueEvent {
  if (failure !== null) return { kind: 'failed', part: 'voice', note: failure.note };
  const { texts, callerName } = talk.script;
  const disclosed = spoken.heard.startsWith(texts.disclosure(callerName));
  return { kind: 'spoken', uses, wordless, interrupted: spoken.interrupted, disclosed, late: isLate(talk) };
}
