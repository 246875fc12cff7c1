import { Alert, Button, Fieldset, List, SegmentedControl, Stack, Text } from '@mantine/core';
import type { TalkMode } from '@trunkcall/contract';
import { useState } from 'react';
import { Part } from '../parts/section.tsx';
import { Conversation } from '../talk/conversation.tsx';
import { hasMicrophone } from '../talk/sound.ts';
import { TalkResult } from '../talk/talk-result.tsx';
import type { TalkProblem } from '../talk/talk-state.ts';
import { useTalk, type Talk } from '../talk/use-talk.ts';
import { text } from '../text.ts';
import { fieldsOf, type Draft } from './draft.ts';
import { ScalarInput } from './scalar-input.tsx';
import type { DraftState } from './use-draft.ts';

const { talk: words } = text;

interface TalkToDraftProps {
  readonly goalId: string;
  readonly draft: Draft;
  readonly state: DraftState;
  readonly mayTest: boolean;
}

/** The author plays the callee of the draft, by typing or by the microphone. */
export function TalkToDraft({ goalId, draft, state, mayTest }: TalkToDraftProps) {
  const talk = useTalk(goalId, state);
  const [marked, setMarked] = useState<readonly number[]>([]);
  const { phase, problem } = talk.state;
  const waiting = phase === 'idle' || phase === 'over';
  return (
    <Part title={words.title} about={words.about}>
      <Stack>
        {!mayTest && <Text>{words.mayNot}</Text>}
        {problem !== null && <Problem problem={problem} />}
        {phase !== 'idle' && (talk.state.lines.length > 0 || !waiting) && (
          <Conversation talk={talk} marked={marked} />
        )}
        <TalkResult state={talk.state} draft={draft} onShow={setMarked} />
        {mayTest && waiting && (
          <Setup draft={draft} talk={talk} onStart={() => setMarked([])} again={phase === 'over'} />
        )}
      </Stack>
    </Part>
  );
}

interface SetupProps {
  readonly draft: Draft;
  readonly talk: Talk;
  readonly onStart: () => void;
  /** Whether there was a talk before. */
  readonly again: boolean;
}

/** What a call needs before it is taken. */
function Setup({ draft, talk, onStart, again }: SetupProps) {
  const fields = fieldsOf(draft.input_schema);
  const [mode, setMode] = useState<TalkMode>(talk.state.mode);
  const [given, setGiven] = useState(talk.variables);
  if (fields === null) return <Text>{words.broken}</Text>;
  const values = Object.fromEntries(
    fields.map(({ name, property }) => [name, Object.hasOwn(given, name) ? given[name] : property.default]),
  );
  const mute = mode === 'spoken' && !hasMicrophone();
  const start = () => {
    onStart();
    talk.start(mode, values);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        start();
      }}
    >
      <Stack gap="sm" align="flex-start">
        <SegmentedControl
          aria-label={words.mode}
          value={mode}
          onChange={(chosen) => setMode(chosen)}
          data={(['typed', 'spoken'] as const).map((value) => ({ value, label: words.modes[value] }))}
        />
        <Text size="sm">{words.modeAbout[mode]}</Text>
        {mute && (
          <Alert color="yellow" variant="outline">
            {words.secure}
          </Alert>
        )}
        {fields.length > 0 && (
          <Fieldset legend={words.variables} w="100%" maw="30rem">
            <Stack gap="xs">
              {fields.map(({ name, property, required }) => (
                <ScalarInput
                  key={name}
                  label={required ? name : words.optional(name)}
                  description={property.description}
                  property={property}
                  value={values[name]}
                  onChange={(value) => setGiven({ ...given, [name]: value })}
                />
              ))}
            </Stack>
          </Fieldset>
        )}
        {draft.agent?.kind !== 'scripted' && (
          <Text size="sm" c="dimmed">
            {words.costs}
          </Text>
        )}
        <Button type="submit" disabled={mute}>
          {again ? words.again : words.start}
        </Button>
      </Stack>
    </form>
  );
}

function Problem({ problem }: { readonly problem: TalkProblem }) {
  return (
    <Alert color="red" variant="outline" role="alert" title={text.common.failed}>
      <Text>{problem.kind === 'said' ? problem.message : words.problems[problem.kind]}</Text>
      {problem.kind === 'said' && problem.problems.length > 0 && (
        <List size="sm">
          {problem.problems.map(({ pointer, message }) => (
            <List.Item key={`${pointer} ${message}`}>
              {pointer} {message}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}
