/**
 * A talk with a draft, over the WebSocket of the console.
 *
 *   start ─▶ draft saved ─▶ microphone (spoken) ─▶ socket ─▶ conversation ─▶ result
 */
import type { Scalar, TalkMessage, TalkMode, TalkRequest } from '@trunkcall/contract';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import type { DraftState } from '../goal/use-draft.ts';
import { NoSound, openSound, type Sound } from './sound.ts';
import { nextTalk, noTalk, type TalkEvent, type TalkProblem, type TalkState } from './talk-state.ts';

export interface Talk {
  readonly state: TalkState;
  /** How loud the microphone was lately, 0–1. */
  readonly level: number;
  readonly muted: boolean;
  /** Those of the last talk. */
  readonly variables: GivenVariables;
  readonly start: (mode: TalkMode, variables: GivenVariables) => void;
  readonly send: (request: TalkRequest) => void;
  readonly mute: (muted: boolean) => void;
}

export type GivenVariables = Readonly<Record<string, Scalar | undefined>>;

/** What one attempt to talk holds on to. */
interface Open {
  socket: WebSocket | null;
  sound: Sound | null;
  over: boolean;
}

const framesOfLevel = 5;

export function useTalk(goalId: string, draft: DraftState): Talk {
  const [state, tell] = useReducer(nextTalk, noTalk);
  const [level, setLevel] = useState(0);
  const [muted, setMuted] = useState(false);
  const [given, setGiven] = useState<GivenVariables>({});
  const open = useRef<Open | null>(null);
  const { flush } = draft;

  const end = useCallback((talk: Open) => {
    talk.over = true;
    talk.socket?.close();
    talk.sound?.close();
    setLevel(0);
  }, []);
  // Leaving the page hangs up.
  useEffect(
    () => () => {
      if (open.current !== null) end(open.current);
    },
    [end],
  );

  const start = useCallback<Talk['start']>(
    (mode, variables) => {
      const talk: Open = { socket: null, sound: null, over: false };
      if (open.current !== null) end(open.current);
      open.current = talk;
      tell({ type: 'started', mode });
      setMuted(false);
      setGiven(variables);
      /** Of a talk that another one has followed nothing is told any more. */
      const note = (event: TalkEvent) => open.current === talk && tell(event);
      const fail = (problem: TalkProblem) => {
        end(talk);
        note({ type: 'failed', problem });
      };
      void connect().catch((error: unknown) =>
        fail({ kind: error instanceof NoSound ? error.problem : 'lost' }),
      );

      async function connect(): Promise<void> {
        if (!(await flush())) return fail({ kind: 'unsaved' });
        if (mode === 'spoken') await listen();
        if (talk.over) return talk.sound?.close();
        const socket = new WebSocket(`/console/api/goals/${goalId}/talk`);
        socket.binaryType = 'arraybuffer';
        talk.socket = socket;
        socket.addEventListener('open', () => {
          socket.send(JSON.stringify({ type: 'start', mode, variables } satisfies TalkRequest));
        });
        socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => take(data));
        socket.addEventListener('close', () => {
          end(talk);
          note({ type: 'closed' });
        });
      }

      async function listen(): Promise<void> {
        let frames = 0;
        let loudest = 0;
        talk.sound = await openSound(({ frame, level: loudness }) => {
          if (talk.socket?.readyState === WebSocket.OPEN) talk.socket.send(frame);
          loudest = Math.max(loudest, loudness);
          frames += 1;
          if (frames % framesOfLevel > 0) return;
          setLevel(loudest);
          loudest = 0;
        });
      }

      function take(data: string | ArrayBuffer): void {
        if (typeof data !== 'string') return talk.sound?.play(new Uint8Array(data));
        const message = JSON.parse(data) as TalkMessage;
        if (message.type === 'clear') talk.sound?.clear();
        // What was said last is still heard; the microphone is not needed any more.
        if (message.type === 'ended') talk.sound?.close();
        note(message);
      }
    },
    [end, flush, goalId],
  );

  const send = useCallback((request: TalkRequest) => {
    const socket = open.current?.socket;
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(request));
  }, []);
  const mute = useCallback((next: boolean) => {
    open.current?.sound?.mute(next);
    setMuted(next);
  }, []);
  return { state, level, muted, variables: given, start, send, mute };
}
