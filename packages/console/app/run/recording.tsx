import { Text } from '@mantine/core';
import type { ConsoleRunDetail } from '@trunkcall/contract';
import { lazy, Suspense, type RefObject } from 'react';
import { Loading } from '../parts/page.tsx';
import { useMay } from '../session.tsx';
import { text } from '../text.ts';

/** What the rest of the page does with the player. */
export interface PlayerControl {
  /** Seconds since the answer. */
  playFrom(seconds: number): void;
}

export interface PlayerProps {
  readonly runId: string;
  readonly control: RefObject<PlayerControl | null>;
  /** Told when it can be controlled. */
  readonly onReady: () => void;
  /** Told while it plays, some times a second; null when it pauses. */
  readonly onTime: (seconds: number | null) => void;
}

const Player = lazy(() => import('./player.tsx'));

/** The recording of a run, for those who may hear it; the player comes when it is needed. */
export function Recording({
  run,
  ...player
}: { readonly run: ConsoleRunDetail } & Omit<PlayerProps, 'runId'>) {
  const mayHear = useMay('recording.hear', run.account_id);
  if (!mayHear) return <Text c="dimmed">{text.run.recording.mayNot}</Text>;
  return (
    <Suspense fallback={<Loading />}>
      <Player runId={run.id} {...player} />
    </Suspense>
  );
}
