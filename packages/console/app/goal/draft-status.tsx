import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { Failure, State, type Tone } from '../parts/page.tsx';
import { text } from '../text.ts';
import { hindranceOf } from './draft-saver.ts';
import type { DraftState } from './use-draft.ts';

const { goal: words } = text;

const labels = {
  saved: words.saved,
  waiting: words.saving,
  saving: words.saving,
  failed: words.unsaved,
} as const;
const tones: Readonly<Record<DraftState['state'], Tone>> = {
  saved: 'good',
  waiting: 'busy',
  saving: 'busy',
  failed: 'bad',
};

/** Whether the draft is saved, why not and what can be done about it, and how much of it is wrong. */
export function DraftStatus({
  state: draft,
  readOnly,
  onTakeTheirs,
}: {
  readonly state: DraftState;
  readonly readOnly: boolean;
  readonly onTakeTheirs: () => void;
}) {
  if (readOnly) return <Text c="dimmed">{words.readOnly}</Text>;
  const { state, problems, conflict, error } = draft;
  const isUnread = state === 'saved' && hindranceOf(draft) === 'unread';
  return (
    <Stack gap="md">
      <Group gap="lg" role="status">
        <State tone={isUnread ? 'bad' : tones[state]}>{isUnread ? words.unsaved : labels[state]}</State>
        {problems.length > 0 && <State tone="warn">{words.problems(problems.length)}</State>}
      </Group>
      {error !== null && <Failure error={error} onRetry={() => void draft.flush()} />}
      {conflict !== null && (
        <Alert color="red" variant="outline" title={words.conflictTitle} role="alert">
          <Group>
            <Text>{words.conflict}</Text>
            <Button size="xs" variant="default" onClick={onTakeTheirs}>
              {words.takeTheirs}
            </Button>
            <Button size="xs" variant="default" onClick={draft.overwrite}>
              {words.keepMine}
            </Button>
          </Group>
        </Alert>
      )}
    </Stack>
  );
}
