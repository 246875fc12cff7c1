import { Anchor, Button, Code, Group, Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleRunDetail, OperatorAttempt, Scalar } from '@trunkcall/contract';
import { useState, type ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { ask, read } from '../api.ts';
import { Failure, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { isDrawing, RunOutcome } from '../parts/run-state.tsx';
import { Copy } from '../parts/secret.tsx';
import { TimeLine } from '../parts/time-line.tsx';
import { useMay, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { run: words } = text;

export default function Run() {
  const { run: id = '' } = useParams();
  const query = useQuery({ queryKey: ['run', id], queryFn: () => read<ConsoleRunDetail>(`/runs/${id}`) });
  return <Loaded query={query}>{(run) => <RunPage run={run} />}</Loaded>;
}

const isOver = ({ status }: ConsoleRunDetail) => status !== 'queued' && status !== 'in_progress';

function RunPage({ run }: { readonly run: ConsoleRunDetail }) {
  const [marked, setMarked] = useState<readonly number[]>([]);
  const over = isOver(run);
  return (
    <Page title={run.title} actions={<Stop run={run} />}>
      <Group gap="lg">
        <RunOutcome status={run.status} error={run.error?.code ?? null} drawing={isDrawing(run)} />
        {!over && <State tone="busy">{words.live}</State>}
        <Anchor component={Link} to={`/goals/${run.goal_id}`} underline="always">
          v{run.run_spec.version}
        </Anchor>
        <span>{run.phone}</span>
        <time dateTime={run.created_at}>{show.dateTime(run.created_at)}</time>
      </Group>
      {run.error !== null && (
        <Text>
          {run.error.message} {run.error.detail_code !== null && <Code>{run.error.detail_code}</Code>}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Part title={words.timeline}>
          <TimeLine run={run} marked={marked} />
        </Part>
        <Stack>
          <Part title={words.result}>
            <Result run={run} onShow={setMarked} />
          </Part>
          <Part title={words.why}>
            <Attempts attempts={run.attempts} />
          </Part>
          <Part title={words.variables}>
            <Values values={run.variables} />
          </Part>
          <Part title={words.curl}>
            <Curl run={run} />
          </Part>
          <Part title={words.ids}>
            <Values
              values={{ id: run.id, run_id: run.run_id, call_id: run.call_id ?? '–', goal_id: run.goal_id }}
            />
          </Part>
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} miw={0}>
      <Title order={2} size="h4" mb="sm">
        {title}
      </Title>
      {children}
    </Paper>
  );
}

function Stop({ run }: { readonly run: ConsoleRunDetail }) {
  const client = useQueryClient();
  const mayStop = useMay('run.cancel', run.account_id);
  const stop = useMutation({
    mutationFn: () => ask('POST', `/runs/${run.id}/cancel`),
    onSettled: () => client.invalidateQueries({ queryKey: ['run', run.id] }),
  });
  if (!mayStop || isOver(run)) return null;
  const stopping = run.cancel_requested_at !== null;
  return (
    <>
      <Button color="red" disabled={stopping} loading={stop.isPending} onClick={() => stop.mutate()}>
        {stopping ? words.stopping : words.stop}
      </Button>
      {stop.error !== null && <Failure error={stop.error} />}
    </>
  );
}

/** The result beside its schema; each value leads to the turns that it was drawn from. */
function Result({
  run,
  onShow,
}: {
  readonly run: ConsoleRunDetail;
  readonly onShow: (turns: readonly number[]) => void;
}) {
  if (run.result === null) {
    const why = run.error === null ? text.common.loading : words.noResult;
    return <Text c="dimmed">{isOver(run) && !isDrawing(run) ? words.noResult : why}</Text>;
  }
  const open = (turns: readonly number[]) => {
    onShow(turns);
    const [first] = turns;
    const item = document.getElementById(`turn-${first}`);
    item?.scrollIntoView({ block: 'center' });
    item?.focus({ preventScroll: true });
  };
  const { result } = run;
  return (
    <Scroll label={words.result}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.value}</Table.Th>
            <Table.Th>{words.evidence}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(run.result_schema.properties).map(([name, { description }]) => (
            <Table.Tr key={name}>
              <Table.Td>
                <Text fw={600} size="sm">
                  {name}
                </Text>
                <Text size="sm" c="dimmed">
                  {description}
                </Text>
              </Table.Td>
              <Table.Td className="break">{valueOf(result[name] as Scalar | undefined)}</Table.Td>
              <Table.Td>
                <Evidence field={name} evidence={run.evidence[name]} onOpen={open} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function valueOf(value: Scalar | undefined): string {
  if (value === undefined) return words.missing;
  if (typeof value === 'boolean') return value ? text.common.yes : text.common.no;
  return String(value);
}

function Evidence({
  field,
  evidence,
  onOpen,
}: {
  readonly field: string;
  readonly evidence: ConsoleRunDetail['evidence'][string] | undefined;
  readonly onOpen: (turns: readonly number[]) => void;
}) {
  const [first] = evidence?.turns ?? [];
  if (evidence === undefined || first === undefined) return '–';
  return (
    <Stack gap={2} align="flex-start">
      <Text size="sm" className="break">
        “{evidence.quote}”
      </Text>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={words.showTurn(field, first)}
        onClick={() => onOpen(evidence.turns)}
      >
        {words.turn(first)}
      </Button>
    </Stack>
  );
}

function Attempts({ attempts }: { readonly attempts: readonly OperatorAttempt[] }) {
  if (attempts.length === 0) return <Text c="dimmed">–</Text>;
  return (
    <Stack gap="sm">
      {attempts.map((attempt) => (
        <Values
          key={attempt.id}
          values={{
            [words.attempt]: attempt.number,
            [words.carrier]: attempt.carrier,
            [words.outcome]: attempt.outcome ?? attempt.state,
            ...(attempt.ended_by === null ? {} : { [words.endedBy]: attempt.ended_by }),
            ...(attempt.sip_status === null ? {} : { [words.sip]: attempt.sip_status }),
            ...(attempt.q850 === null ? {} : { [words.q850]: attempt.q850 }),
            ...(attempt.note === null ? {} : { [words.note]: attempt.note }),
          }}
        />
      ))}
    </Stack>
  );
}

function Values({ values }: { readonly values: Readonly<Record<string, Scalar>> }) {
  const entries = Object.entries(values);
  if (entries.length === 0) return <Text c="dimmed">–</Text>;
  return (
    <Table>
      <Table.Tbody>
        {entries.map(([name, value]) => (
          <Table.Tr key={name}>
            <Table.Th scope="row" fw={400}>
              {name}
            </Table.Th>
            <Table.Td className="break">{valueOf(value)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function Curl({ run }: { readonly run: ConsoleRunDetail }) {
  const { session } = usePlace();
  const base = session.base_url ?? window.location.origin;
  const body = JSON.stringify({ phone: '+PHONE', variables: run.variables }).replaceAll(
    "'",
    String.raw`'\''`,
  );
  const command = [
    `curl -s ${base}/v1/goals/${run.goal_id}/runs \\`,
    `  -H "Authorization: Bearer $TRUNKCALL_API_KEY" \\`,
    `  -H 'Idempotency-Key: A-NEW-KEY' -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
  return (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {words.curlHint}
      </Text>
      <Code block className="pre" tabIndex={0}>
        {command}
      </Code>
      <Copy value={command} />
    </Stack>
  );
}
