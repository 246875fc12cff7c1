/** The loop of a scripted conversation: listen, decide, speak, until it has ended, the callee left or we are stopped. */
import type { ConversationEnd } from '../agent.ts';

/** A dialogue on some kind of leg; `D` is its state, `H` what is heard there. */
export interface Talk<D extends Ending, H> {
  readonly begin: D;
  /** Null when the callee has left. */
  listen(dialogue: D): Promise<H | null>;
  /** Reports what was heard, decides, and says what follows. */
  proceed(dialogue: D, heard: H): Promise<Proceeded<D>>;
}

interface Ending {
  /** How it ended, once it has. */
  readonly end: ConversationEnd | null;
}

export interface Proceeded<D> {
  readonly dialogue: D;
  /** The callee did not let us finish. */
  readonly interrupted: boolean;
}

/** How often a goodbye is said that the callee does not let us finish. */
const maxGoodbyes = 3;

export async function hold<D extends Ending, H>(
  talk: Talk<D, H>,
  signal: AbortSignal,
): Promise<ConversationEnd> {
  let dialogue = talk.begin;
  let goodbyes = 0;
  for (;;) {
    const heard = await unlessAborted(signal, talk.listen(dialogue));
    if (heard === aborted) return stopped;
    if (heard === null) return leftBy(dialogue);
    const proceeded = await unlessAborted(signal, talk.proceed(dialogue, heard));
    if (proceeded === aborted) return stopped;
    ({ dialogue } = proceeded);
    if (dialogue.end !== null) {
      goodbyes += 1;
      if (!proceeded.interrupted || goodbyes >= maxGoodbyes) return dialogue.end;
    }
  }
}

const stopped: ConversationEnd = { kind: 'failed', note: 'aborted' };

/** A callee who leaves during our goodbye has left; that they opted out, or are a machine, stays true. */
function leftBy({ end }: Ending): ConversationEnd {
  return end === null || end.kind === 'finished' ? { kind: 'callee_left' } : end;
}

const aborted = Symbol('aborted');

/** The outcome of our side's wait, or `aborted` as soon as the signal aborts. */
function unlessAborted<T>(signal: AbortSignal, wait: Promise<T>): Promise<T | typeof aborted> {
  if (signal.aborted) return Promise.resolve(aborted);
  return new Promise((resolve, reject) => {
    const abort = () => resolve(aborted);
    signal.addEventListener('abort', abort, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
