import { Group, Text } from '@mantine/core';
import type { OperatorTrunk } from '@trunkcall/contract';
import { show, text } from '../text.ts';
import { State, type Tone } from './page.tsx';

const { trunks: words } = text;

const tones: Readonly<Record<OperatorTrunk['state'], Tone>> = {
  up: 'good',
  partly_up: 'warn',
  down: 'bad',
  resting: 'warn',
  unknown: 'quiet',
};

/** How a trunk stands, since when, and why. */
export function TrunkState({ trunk }: { readonly trunk: Pick<OperatorTrunk, 'state' | 'since' | 'why'> }) {
  const { state, since, why } = trunk;
  return (
    <Group gap="xs">
      <State tone={tones[state]}>{words.states[state]}</State>
      {since !== null && <Text size="sm">{words.since(show.dateTime(since))}</Text>}
      {why !== null && (
        <Text size="sm" className="break">
          {why}
        </Text>
      )}
    </Group>
  );
}
