import { Stack, Text } from '@mantine/core';
import { Boundary } from '../parts/boundary.tsx';
import { text } from '../text.ts';
import { isObject } from './draft.ts';
import { ScriptedTest } from './scripted-test.tsx';
import { TalkToDraft } from './talk.tsx';
import type { DraftState } from './use-draft.ts';

interface TestLabProps {
  readonly goalId: string;
  readonly state: DraftState;
  readonly mayTest: boolean;
}

/** Where an author tries the draft out before anybody is called with it. */
export function TestLab({ goalId, state, mayTest }: TestLabProps) {
  const { draft } = state;
  const broken = <Text>{text.goal.about.broken}</Text>;
  return (
    <Boundary fallback={broken} resetKey={draft}>
      {isObject(draft) ? (
        <Stack gap="md">
          <TalkToDraft goalId={goalId} draft={draft} state={state} mayTest={mayTest} />
          <ScriptedTest goalId={goalId} draft={draft} state={state} mayTest={mayTest} />
        </Stack>
      ) : (
        broken
      )}
    </Boundary>
  );
}
