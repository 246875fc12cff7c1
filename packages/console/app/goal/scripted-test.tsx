import { Alert, Button, Group, NativeSelect, Stack, Table, Text } from '@mantine/core';
import type { AgentKind, CalleeTest, GoalFileProblem, Scalar, TestVerdict } from '@trunkcall/contract';
import { Fragment, useState } from 'react';
import type { ApiError } from '../api.ts';
import { Problems } from '../parts/code-editor.tsx';
import { Empty, Failure, Scroll, State, type Tone } from '../parts/page.tsx';
import { Part } from '../parts/section.tsx';
import { show, text } from '../text.ts';
import { CalleesEditor } from './callees-editor.tsx';
import { calleesOf, type Draft } from './draft.ts';
import { hindranceOf } from './draft-saver.ts';
import type { DraftState } from './use-draft.ts';
import { useScriptedTest, type ScriptedTestState } from './use-scripted-test.ts';

const { test: words } = text;

interface ScriptedTestProps {
  readonly goalId: string;
  readonly draft: Draft;
  readonly state: DraftState;
  /** False: the person may look at the callees, not change or call them. */
  readonly mayTest: boolean;
}

/** The draft against its scripted callees: a table of how each call ended beside what was expected. */
export function ScriptedTest({ goalId, draft, state, mayTest }: ScriptedTestProps) {
  const test = useScriptedTest(goalId, state);
  const callees = calleesOf(draft.callees) ?? [];
  const [editing, setEditing] = useState(false);
  const change = mayTest ? state.change : undefined;
  const isEmpty = draft.callees === undefined || draft.callees.length === 0;
  return (
    <Part title={words.title} about={words.about}>
      <Stack>
        {mayTest && !isEmpty && <Controls test={test} state={state} />}
        {test.error !== null && <TestFailure error={test.error} />}
        {isEmpty && !editing ? (
          <Empty title={words.empty} hint={words.emptyHint}>
            {mayTest && (
              <Button variant="default" onClick={() => setEditing(true)}>
                {words.edit}
              </Button>
            )}
          </Empty>
        ) : (
          <Passes test={test} names={callees.map(({ name }, index) => nameOf(name, index))} draft={draft} />
        )}
        {(editing || !isEmpty) && (
          <Stack gap="sm">
            <Group>
              <Button
                variant="default"
                aria-expanded={editing}
                onClick={() => setEditing((before) => !before)}
              >
                {words.edit}
              </Button>
            </Group>
            {editing && <CalleesEditor draft={draft} onChange={change} problems={state.problems} />}
          </Stack>
        )}
      </Stack>
    </Part>
  );
}

const nameOf = (name: string | undefined, index: number): string =>
  name === undefined || name === '' ? text.goal.callees.nameless(index + 1) : name;

function Controls({ test, state }: { readonly test: ScriptedTestState; readonly state: DraftState }) {
  const [agent, setAgent] = useState<AgentKind | ''>('');
  const agents = Object.entries(words.agents).map(([value, label]) => ({ value, label }));
  const hindrance = hindranceOf(state);
  return (
    <Group align="flex-end">
      <NativeSelect
        label={words.agent}
        description={agent === 'scripted' ? undefined : words.costs}
        value={agent}
        data={[{ value: '', label: words.ownAgent }, ...agents]}
        onChange={(event) => setAgent(event.currentTarget.value as AgentKind | '')}
      />
      <Button
        loading={test.running}
        disabled={hindrance !== null}
        onClick={() => test.run(agent === '' ? null : agent)}
      >
        {test.tested === undefined ? words.run : words.again}
      </Button>
      {test.running && (
        <Button variant="default" onClick={test.stop}>
          {words.stop}
        </Button>
      )}
      {hindrance !== null && <Text size="sm">{text.goal.hindrances[hindrance]}</Text>}
    </Group>
  );
}

function TestFailure({ error }: { readonly error: ApiError }) {
  const { problems } = error.details;
  if (error.code === 'broken_off' || error.code === 'unsaved') {
    const title = error.code === 'unsaved' ? words.unsaved : words.broken;
    return <Alert color="red" variant="outline" role="alert" title={title} />;
  }
  if (!Array.isArray(problems)) return <Failure error={error} />;
  const listed = (problems as readonly (GoalFileProblem | string)[]).map((problem) =>
    typeof problem === 'string' ? { pointer: '', message: problem } : problem,
  );
  return (
    <Alert color="red" variant="outline" role="alert" title={error.message}>
      <Problems problems={listed} />
    </Alert>
  );
}

const tones: Readonly<Record<TestVerdict, Tone>> = {
  passed: 'good',
  failed: 'bad',
  not_judged: 'warn',
  not_run: 'quiet',
};

interface PassesProps {
  readonly test: ScriptedTestState;
  /** Of the draft’s callees. */
  readonly names: readonly string[];
  readonly draft: Draft;
}

function Passes({ test, names, draft }: PassesProps) {
  const [open, setOpen] = useState<number | null>(null);
  const { tests, summary, running, tested } = test;
  const stale = tested !== undefined && tested !== draft;
  // A draft that was changed may have other people at these places.
  const shown = stale ? [...tests.keys()].sort((a, b) => a - b) : names.map((_, index) => index);
  return (
    <Stack gap="xs">
      <Text size="sm" role="status">
        {summary === null ? running && words.progress(tests.size, names.length) : words.sum(summary)}
        {stale && ` · ${words.stale}`}
      </Text>
      <Scroll label={words.title}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.callee}</Table.Th>
              <Table.Th>{words.verdict}</Table.Th>
              <Table.Th visibleFrom="sm">{words.ended}</Table.Th>
              <Table.Th visibleFrom="sm">{words.call}</Table.Th>
              <Table.Th>{words.details}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {shown.map((index) => {
              const one = tests.get(index);
              return (
                <Fragment key={index}>
                  <Pass
                    name={one?.name ?? names[index] ?? ''}
                    test={one}
                    running={running}
                    open={open === index}
                    onToggle={() => setOpen(open === index ? null : index)}
                  />
                  {one !== undefined && open === index && (
                    <Table.Tr>
                      <Table.Td colSpan={5} id={`call-${index}`}>
                        <div className="in-view">
                          <Details test={one} />
                        </div>
                      </Table.Td>
                    </Table.Tr>
                  )}
                </Fragment>
              );
            })}
          </Table.Tbody>
        </Table>
      </Scroll>
    </Stack>
  );
}

interface PassProps {
  readonly name: string;
  readonly test: CalleeTest | undefined;
  readonly running: boolean;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function Pass({ name, test, running, open, onToggle }: PassProps) {
  return (
    <Table.Tr>
      <Table.Td className="break" miw={130}>
        {name}
      </Table.Td>
      <Table.Td>
        {test !== undefined && <State tone={tones[test.verdict]}>{words.verdicts[test.verdict]}</State>}
        {test === undefined && (running ? <State tone="busy">{words.pending}</State> : '–')}
      </Table.Td>
      <Table.Td visibleFrom="sm">{test === undefined ? '–' : endOf(test)}</Table.Td>
      <Table.Td visibleFrom="sm">{test === undefined ? '–' : lengthOf(test)}</Table.Td>
      <Table.Td>
        {test !== undefined && (
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={open}
            aria-label={open ? words.hide(name) : words.show(name)}
            onClick={onToggle}
          >
            {open ? text.common.close : words.details}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}

function endOf({ actual }: CalleeTest): string {
  if (actual === null) return '–';
  return actual.error === null ? words.result : text.errors[actual.error.code];
}

const lengthOf = ({ call_seconds: seconds }: CalleeTest): string =>
  seconds === null ? '–' : show.clock(seconds);

function Details({ test }: { readonly test: CalleeTest }) {
  const { actual, note, verdict } = test;
  return (
    <Stack gap="sm">
      {/* The columns that a phone has no room for. */}
      <Text size="sm" hiddenFrom="sm">
        {words.ended}: {endOf(test)} · {lengthOf(test)}
      </Text>
      {verdict === 'not_judged' && <Text size="sm">{words.notJudged}</Text>}
      {note !== null && <Text size="sm">{note}</Text>}
      <Differences test={test} />
      {actual?.result && (
        <div>
          <Text size="sm" fw={600}>
            {words.drawn}
          </Text>
          <Values values={actual.result} />
        </div>
      )}
      <div>
        <Text size="sm" fw={600}>
          {words.conversation}
        </Text>
        {test.transcript.length === 0 && (
          <Text size="sm" c="dimmed">
            {words.silence}
          </Text>
        )}
        <ol className="timeline">
          {test.transcript.map(({ speaker, text: said, offset_seconds, interrupted }, index) => (
            <li key={index}>
              <time title={text.run.sinceAnswer}>{show.clock(offset_seconds)}</time>
              <div className={`turn ${speaker}`}>
                <Text size="sm" fw={600}>
                  {text.run.speakers[speaker]}
                  {interrupted && ` · ${text.run.interrupted}`}
                </Text>
                {said}
              </div>
            </li>
          ))}
        </ol>
      </div>
    </Stack>
  );
}

function Differences({ test: { differences } }: { readonly test: CalleeTest }) {
  if (differences.length === 0) return null;
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{words.place}</Table.Th>
          <Table.Th>{words.expected}</Table.Th>
          <Table.Th>{words.actual}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {differences.map(({ pointer, expected, actual }) => (
          <Table.Tr key={pointer}>
            <Table.Th scope="row" fw={400} className="break">
              {pointer}
            </Table.Th>
            <Table.Td className="break">{valueOf(expected)}</Table.Td>
            <Table.Td className="break">{valueOf(actual)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Values({ values }: { readonly values: Readonly<Record<string, Scalar>> }) {
  return (
    <Table>
      <Table.Tbody>
        {Object.entries(values).map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400} className="break">
              {name}
            </Table.Th>
            <Table.Td className="break">{valueOf(value)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function valueOf(value: Scalar | null): string {
  if (value === null) return words.nothing;
  if (typeof value === 'boolean') return value ? text.common.yes : text.common.no;
  return String(value);
}
