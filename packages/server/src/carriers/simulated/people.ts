/** How simulated people behave on an answered call. Each returns when the person hangs up. */
import type { CalleeBehavior } from '@trunkcall/contract';
import type { Line, Sensed } from './line.ts';
import { Mind, type Reply } from './mind.ts';
import type { Resident } from './numbers.ts';
import type { Random } from './random.ts';
import type { Wording } from './wording/wording.ts';

/** Longest time that nobody says anything before a person asks whether anybody is there. */
const patienceMs = 20_000;

/** One person on the line, with the small skills that all behaviours are made of. */
class Person {
  readonly resident: Resident;
  readonly wording: Wording;
  readonly random: Random;
  readonly mind: Mind;
  readonly #line: Line;
  /** Who calls lets the other side speak first. */
  readonly #calls: boolean;

  constructor(line: Line, resident: Resident, wording: Wording, random: Random, calls: boolean) {
    this.#line = line;
    this.#calls = calls;
    this.resident = resident;
    this.wording = wording;
    this.random = random;
    this.mind = new Mind(resident, wording, random);
  }

  async say(text: string, endless = false): Promise<void> {
    await this.#line.callee.say(text, endless);
  }

  async wait(ms: number): Promise<void> {
    await this.#line.time.sleep(ms);
  }

  async answersPhone(): Promise<void> {
    if (this.#calls) return;
    await this.wait(this.random.between(300, 700));
    await this.say(this.random.pick(this.wording.hello));
  }

  /** Waits for what the other side says and lets it finish: a pause as long as a thought ends it. */
  async listen(withinMs = patienceMs): Promise<Sensed> {
    let said = '';
    const thoughtMs = this.random.between(350, 950);
    for (;;) {
      const sensed = await this.#line.callee.hear(said === '' ? withinMs : thoughtMs);
      if (sensed.kind === 'silence' && said !== '') {
        return { kind: 'utterance', text: said, startedAtMs: 0, endedAtMs: 0 };
      }
      if (sensed.kind !== 'utterance') return sensed;
      said = said === '' ? sensed.text : `${said} ${sensed.text}`;
    }
  }

  /** Resolves `afterMs` into the other side's next sentence; `false` when the call ended before. */
  async midSentence(afterMs: number): Promise<boolean> {
    if (!(await this.#line.callee.notice())) return false;
    return this.#line.time.sleep(afterMs);
  }

  pressed(withinMs: number): Promise<Sensed> {
    return this.#line.callee.hear(withinMs);
  }

  beep(): void {
    this.#line.callee.emit({ kind: 'beep', atMs: this.#line.clockMs });
  }
}

/** Plays the behaviour until the person hangs up or the call ends; `calls`: one who called, and was answered. */
export async function playPerson(
  line: Line,
  resident: Resident,
  wording: Wording,
  random: Random,
  calls = false,
): Promise<void> {
  await behaviors[resident.does](new Person(line, resident, wording, random, calls));
}

type Behavior = (person: Person) => Promise<void>;

/** Behaviours that never get as far as a conversation. */
const unanswered: Behavior = async () => {};

const behaviors: Readonly<Record<CalleeBehavior, Behavior>> = {
  rings_out: unanswered,
  busy: unanswered,
  declines: unanswered,
  unassigned: unanswered,
  carrier_fails: unanswered,

  async cooperates(person) {
    await person.answersPhone();
    await converse(person);
  },

  async answers_uselessly(person) {
    await person.answersPhone();
    const useless = () => person.random.pick(person.wording.useless);
    await converse(person, { alter: (reply) => (reply.hangUp ? reply : { ...reply, text: useless() }) });
  },

  /** Leaves in the middle of a sentence, after answering half of what is required. */
  async hangs_up_midway(person) {
    await person.answersPhone();
    await converse(person, { maxReplies: Math.floor(person.resident.resultSchema.required.length / 2) });
    await person.midSentence(1_200);
  },

  async says_nothing(person) {
    await person.wait(120_000);
  },

  async opts_out(person) {
    await person.answersPhone();
    await person.listen();
    await person.say(person.random.pick(person.wording.optOut));
    await person.listen(5_000);
  },

  /** Cooperates, but cuts short the first sentence that it hears, and another one after its first answer. */
  async talks_over(person) {
    await person.answersPhone();
    for (const interruption of person.wording.interruptions) {
      if (!(await person.midSentence(person.random.between(1_500, 2_500)))) return;
      await person.say(interruption);
      await converse(person, { maxReplies: 1 });
    }
    await converse(person);
  },

  async never_hangs_up(person) {
    await person.answersPhone();
    await person.listen();
    await person.say(person.wording.monologue, true);
  },

  /** Records for up to a minute after the beep. */
  async voicemail(person) {
    await person.wait(person.random.between(600, 1_200));
    await person.say(person.wording.voicemail);
    await person.wait(500);
    person.beep();
    const recordedMs = 60_000;
    while ((await person.listen(recordedMs)).kind === 'utterance') await person.wait(0);
  },

  async has_menu(person) {
    await person.wait(500);
    let announcement = person.wording.menu;
    for (let tries = 0; tries < 3; tries += 1) {
      await person.say(announcement);
      const sensed = await person.pressed(8_000);
      if (sensed.kind === 'left') return;
      if (sensed.kind === 'digits' && sensed.digits.startsWith('2')) {
        await person.say(person.wording.connecting);
        await person.wait(person.random.between(1_500, 3_000));
        await person.answersPhone();
        return converse(person);
      }
      announcement = person.wording.menuRepeat;
    }
  },
};

interface Conversing {
  /** Changes a reply on its way out. */
  readonly alter?: (reply: Reply) => Reply;
  readonly maxReplies?: number;
}

/** Listens and replies until one side leaves or all replies were given. */
async function converse(
  person: Person,
  { alter = (reply) => reply, maxReplies = 1_000 }: Conversing = {},
): Promise<void> {
  let silences = 0;
  for (let replies = 0; replies < maxReplies;) {
    const sensed = await person.listen();
    if (sensed.kind === 'left') return;
    if (sensed.kind === 'silence') {
      silences += 1;
      if (silences > 2) return;
      await person.say(person.random.pick(person.wording.stillThere));
    }
    const reply = sensed.kind === 'utterance' ? person.mind.reply(sensed.text) : null;
    if (reply === null) continue;
    silences = 0;
    replies += 1;
    const altered = alter(reply);
    await person.say(altered.text);
    if (altered.hangUp) return person.wait(400);
  }
}
