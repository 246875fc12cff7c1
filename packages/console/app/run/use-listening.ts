/**
 * Listening in on a call, over the WebSocket of the console.
 *
 *   start ─▶ note ─▶ loudspeaker ─▶ socket ─▶ sound ─▶ end
 */
import type { ConsoleListening, ListenEnd, ListenMessage } from '@trunkcall/contract';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ask } from '../api.ts';
import { prepare } from '../talk/sound.ts';

export type ListeningState =
  | { readonly kind: 'idle' | 'starting' | 'on' }
  | { readonly kind: 'ended'; readonly reason: ListenEnd | 'lost' | 'no_sound' }
  /** The server refused. */
  | { readonly kind: 'refused'; readonly error: unknown };

export interface ListeningControl {
  readonly state: ListeningState;
  /** 0–1. */
  readonly volume: number;
  readonly start: () => void;
  readonly stop: () => void;
  readonly setVolume: (volume: number) => void;
}

/** What one attempt to listen holds on to. */
interface Open {
  context: AudioContext | null;
  gain: GainNode | null;
  socket: WebSocket | null;
  over: boolean;
}

function close(open: Open): void {
  open.over = true;
  open.socket?.close();
  if (open.context !== null && open.context.state !== 'closed') void open.context.close();
}

export function useListening(runId: string): ListeningControl {
  const [state, setState] = useState<ListeningState>({ kind: 'idle' });
  const [volume, keepVolume] = useState(1);
  const current = useRef<Open | null>(null);
  const loudness = useRef(1);

  // Leaving the page ends it.
  useEffect(
    () => () => {
      if (current.current !== null) close(current.current);
    },
    [runId],
  );

  const start = useCallback(() => {
    if (current.current !== null) close(current.current);
    const open: Open = { context: null, gain: null, socket: null, over: false };
    current.current = open;
    /** Of an attempt that is over nothing is told any more. */
    const tell = (next: ListeningState) => {
      if (open.over) return;
      if (next.kind !== 'starting' && next.kind !== 'on') close(open);
      setState(next);
    };
    tell({ kind: 'starting' });
    void connect();

    async function connect(): Promise<void> {
      // At the click: browsers let nothing sound that begins by itself.
      const play = loudspeaker();
      // Told below; until then nobody waits for it.
      play.catch(() => undefined);
      let note: string;
      try {
        ({ listening: note } = await ask<ConsoleListening>('POST', `/runs/${runId}/listenings`));
      } catch (error) {
        return tell({ kind: 'refused', error });
      }
      try {
        receive(note, await play);
      } catch {
        tell({ kind: 'ended', reason: 'no_sound' });
      }
    }

    async function loudspeaker(): Promise<(sound: Uint8Array) => void> {
      const context = new AudioContext({ latencyHint: 'interactive' });
      open.context = context;
      await prepare(context);
      const sides = new AudioWorkletNode(context, 'telephone-sides', {
        numberOfInputs: 0,
        outputChannelCount: [2],
      });
      open.gain = new GainNode(context, { gain: loudness.current });
      sides.connect(open.gain).connect(context.destination);
      return (sound) => sides.port.postMessage(sound, []);
    }

    function receive(note: string, play: (sound: Uint8Array) => void): void {
      if (open.over) return;
      const socket = new WebSocket(`/console/api/runs/${runId}/listen?listening=${note}`);
      socket.binaryType = 'arraybuffer';
      open.socket = socket;
      socket.addEventListener('open', () => tell({ kind: 'on' }));
      socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
        if (typeof data !== 'string') return play(new Uint8Array(data));
        tell({ kind: 'ended', reason: (JSON.parse(data) as ListenMessage).reason });
      });
      socket.addEventListener('close', () => tell({ kind: 'ended', reason: 'lost' }));
    }
  }, [runId]);

  const stop = useCallback(() => {
    if (current.current !== null) close(current.current);
    setState({ kind: 'idle' });
  }, []);
  const setVolume = useCallback((next: number) => {
    loudness.current = next;
    keepVolume(next);
    const gain = current.current?.gain ?? null;
    if (gain !== null) gain.gain.value = next;
  }, []);
  return { state, volume, start, stop, setVolume };
}
