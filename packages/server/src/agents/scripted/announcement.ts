/** A call on which something is said and nothing asked, as a scripted conversation. */
import type { Heard } from '../../carriers/carrier.ts';
import type { ConversationEnd, TranscriptSink } from '../agent.ts';
import type { AudioHeard } from '../audio/ear.ts';
import type { Said } from '../audio/speech-over.ts';
import { openAtMs } from '../who-answered.ts';
import { botTurn } from './speech-talk.ts';
import type { Talk } from './talk.ts';

export interface Announcement {
  readonly hear: (withinMs: number) => Promise<Heard | AudioHeard>;
  readonly say: () => Promise<Said>;
  readonly transcript: TranscriptSink;
}

interface Announced {
  readonly end: ConversationEnd | null;
}

/** Who cuts it short is heard out, and hears it again, as often as a goodbye. */
export function announcement({ hear, say, transcript }: Announcement): Talk<Announced, Heard | AudioHeard> {
  return {
    begin: { end: null },
    async listen() {
      const heard = await hear(openAtMs.inbound);
      return heard.kind === 'left' ? null : heard;
    },
    async proceed(_, heard) {
      if (heard.kind === 'utterance') {
        const { text, startedAtMs: offsetMs } = heard;
        transcript.turn({
          speaker: 'user',
          text,
          offsetMs,
          interrupted: false,
          notes: [],
          latency: null,
        });
      }
      const said = await say();
      if (said.kind === 'failed') {
        return { dialogue: { end: { kind: 'failed', note: said.note } }, interrupted: false };
      }
      const { spoken } = said;
      if (spoken.heard !== '') transcript.turn(botTurn(spoken));
      return { dialogue: { end: { kind: 'finished' } }, interrupted: spoken.interrupted };
    },
  };
}
