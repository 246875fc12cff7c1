import { Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { CallTask, ConsoleCallDetail, OneShotCall } from '@trunkcall/contract';
import { useState, type ReactNode } from 'react';
import { useParams } from 'react-router';
import { ask, read } from '../api.ts';
import { CallState } from '../call/call-state.tsx';
import { Evidence } from '../call/evidence.tsx';
import { Recipients } from '../call/recipients.tsx';
import { SchemaResult } from '../call/schema-result.tsx';
import { callFailureText } from '../call/words.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Deliveries } from '../parts/delivery-table.tsx';
import { Loaded, Page, State } from '../parts/page.tsx';
import { Command, Part, Values, Verbatim } from '../parts/section.tsx';
import { curlOf } from '../parts/shell-command.ts';
import { useScrollToTarget } from '../parts/target.ts';
import { Transcript } from '../parts/transcript.tsx';
import { useAccountOf, useMay, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { call: words } = text;

export default function Call() {
  const { call: id = '' } = useParams();
  const query = useQuery({ queryKey: ['call', id], queryFn: () => read<ConsoleCallDetail>(`/calls/${id}`) });
  return <Loaded query={query}>{(call) => <CallPage call={call} />}</Loaded>;
}

/** Of a one-shot call the row says `queued` while it is on the phone; its view knows better. */
const statusOf = ({ view }: ConsoleCallDetail) => view.status;

/** Results are drawn behind the end of the telephone execution. */
const isOver = ({ view }: ConsoleCallDetail): boolean =>
  view.object === 'call' ? view.result_status !== 'pending' : view.completed_at !== null;

function CallPage({ call }: { readonly call: ConsoleCallDetail }) {
  useAccountOf(call.account_id);
  useScrollToTarget();
  const { view } = call;
  const over = isOver(call);
  return (
    <Page
      title={words.titleOf(text.calls.kinds[call.kind], show.dateTime(call.created_at))}
      actions={<Stop call={call} />}
    >
      <Group gap="lg">
        <CallState call={{ status: statusOf(call), error_code: call.error_code }} />
        {!over && <State tone="busy">{text.run.live}</State>}
        {view.object === 'call' && <span>{view.phone}</span>}
        {call.completed_at !== null && (
          <span>{show.span(Date.parse(call.completed_at) - Date.parse(call.created_at))}</span>
        )}
      </Group>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Stack>
          <Part title={words.task}>
            <Text className="pre">{view.task}</Text>
          </Part>
          {view.object === 'call' ? (
            <Part title={text.run.timeline}>
              <Transcript name="turn" turns={view.transcript} />
            </Part>
          ) : (
            <Recipients task={view} schema={call.recipient_result_schema} over={over} />
          )}
          <Part title={words.trace}>
            <Trace call={call} />
          </Part>
        </Stack>
        <Stack>
          {call.result_schema !== null && (
            <Part title={words.result}>
              <SchemaResult
                schema={call.result_schema}
                result={view.object === 'call' ? view.result : view.structured_result}
                over={over}
              />
              {view.object === 'call' && view.error !== null && <Text mt="sm">{view.error.message}</Text>}
            </Part>
          )}
          {view.object === 'call_task' && <Conclusion task={view} over={over} />}
          <Deliveries of={call.deliveries} />
          <Part title={words.metadata}>
            <Verbatim label={words.metadata}>{JSON.stringify(view.metadata, null, 2)}</Verbatim>
          </Part>
          <Part title={text.run.curl}>
            <Curl call={call} />
          </Part>
          <Part title={text.run.ids}>
            <Values values={idsOf(call)} />
          </Part>
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

function Stop({ call }: { readonly call: ConsoleCallDetail }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const mayStop = useMay('run.cancel', call.account_id);
  if (!mayStop || call.completed_at !== null) return null;
  const stopping = call.cancel_requested_at !== null;
  const stop = async () => {
    try {
      await ask('POST', `/calls/${call.id}/cancel`);
    } finally {
      await client.invalidateQueries({ queryKey: ['call', call.id] });
    }
  };
  return (
    <>
      <Button color="red" disabled={stopping} onClick={() => setAsking(true)}>
        {stopping ? text.run.stopping : text.run.stop}
      </Button>
      {asking && (
        <Confirm
          title={words.stopTitle}
          about={words.stopText}
          submit={text.run.stop}
          onConfirm={stop}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

/** What a call task came to. */
function Conclusion({ task, over }: { readonly task: CallTask; readonly over: boolean }) {
  if (!over) return null;
  const { completion_confidence: confidence, task_completed: completed } = task;
  const facts: Record<string, ReactNode> = {
    ...(task.failure_code === null ? {} : { [text.runs.error]: callFailureText(task.failure_code) }),
    ...(completed === null ? {} : { [words.completed]: completed ? text.common.yes : text.common.no }),
    ...(confidence === null
      ? {}
      : { [words.confidence]: `${words.labels[confidence.label]} (${show.percent(confidence.score)})` }),
  };
  return (
    <Part title={words.summary}>
      <Stack gap="sm">
        {task.summary !== null && <Text className="break">{task.summary}</Text>}
        <Values values={facts} />
        {task.evidence.length > 0 && <Evidence task={task} />}
      </Stack>
    </Part>
  );
}

function Trace({ call }: { readonly call: ConsoleCallDetail }) {
  const startMs = Date.parse(call.created_at);
  return (
    <ol className="timeline trace">
      {call.events.map(({ id, type, details, created_at }) => (
        <li key={id}>
          <time dateTime={created_at}>+{show.decimal((Date.parse(created_at) - startMs) / 1_000)} s</time>
          <div>
            <Text size="sm">{text.events[type] ?? type}</Text>
            <Text size="xs" c="dimmed" className="break">
              {detailsOf(details)}
            </Text>
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Codes and ids, and never what was said; turns are counted from 1, as where they are shown. */
function detailsOf({ turn, ...rest }: Readonly<Record<string, unknown>>): string {
  if (typeof turn === 'number') return text.run.turn(turn);
  return Object.entries(rest)
    .filter(([, value]) => value !== null && typeof value !== 'object')
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(' · ');
}

function idsOf({ id, webhook_url, view }: ConsoleCallDetail): Record<string, ReactNode> {
  const place: Record<string, ReactNode> =
    view.object === 'call' ? { [words.place]: `${view.locale}, ${view.region}` } : {};
  return {
    call_id: <Code>{id}</Code>,
    ...place,
    ...(webhook_url === null ? {} : { [words.webhookUrl]: webhook_url }),
  };
}

function Curl({ call }: { readonly call: ConsoleCallDetail }) {
  const { session } = usePlace();
  const base = session.base_url ?? window.location.origin;
  const { view } = call;
  const path = view.object === 'call' ? '/v2/calls' : '/v1/calls';
  const create = curlOf({
    url: base + path,
    keyVariable: 'TRUNKCALL_API_KEY',
    idempotent: true,
    json: requestOf(call, view),
  });
  const poll = curlOf({ url: `${base}${path}/${call.id}`, keyVariable: 'TRUNKCALL_API_KEY' });
  return (
    <Stack>
      <Command label={text.run.curl} hint={text.run.curlHint} command={create} />
      <Command label={text.run.curlPoll} hint={text.run.curlPoll} command={poll} />
    </Stack>
  );
}

function requestOf(call: ConsoleCallDetail, view: CallTask | OneShotCall): Record<string, unknown> {
  const metadata = Object.keys(view.metadata).length === 0 ? {} : { metadata: view.metadata };
  const webhook = call.webhook_url === null ? {} : { webhook_url: call.webhook_url };
  const schema = call.result_schema === null ? {} : { result_schema: call.result_schema };
  const shared = { task: view.task, ...schema, ...metadata, ...webhook };
  if (view.object === 'call') return { ...shared, phone: '+PHONE' };
  const ofRecipients =
    call.recipient_result_schema === null ? {} : { recipient_result_schema: call.recipient_result_schema };
  const recipients = view.recipients.map(({ locale, region }) => ({ phones: ['+PHONE'], region, locale }));
  return { ...shared, ...ofRecipients, recipients };
}
