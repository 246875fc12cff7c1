import { Alert, Anchor, Button, Code, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OperatorWorker, ProviderReport, SettingInForce, SystemReport } from '@trunkcall/contract';
import { useState } from 'react';
import { Link } from 'react-router';
import { ask, read } from '../api.ts';
import { Alerts } from '../parts/alerts.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { Facts } from '../parts/facts.tsx';
import { Part } from '../parts/section.tsx';
import { Failure, Loaded, Page, Scroll, State, type Tone } from '../parts/page.tsx';
import { TrunkState } from '../parts/trunk-state.tsx';
import { show, text } from '../text.ts';

const { system: words } = text;

export default function System() {
  const query = useQuery({
    queryKey: ['system'],
    queryFn: () => read<SystemReport>('/system'),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={words.title}>
      <Loaded query={query}>{(report) => <Report report={report} />}</Loaded>
    </Page>
  );
}

function Report({ report }: { readonly report: SystemReport }) {
  const { alerts, problems } = report;
  return (
    <Stack>
      {alerts.length + problems.length === 0 && <State tone="good">{words.healthy}</State>}
      <Alerts alerts={alerts} />
      {problems.length > 0 && (
        <Alert color="red" variant="outline" title={words.problems}>
          {problems.map((problem) => (
            <Text key={problem} size="sm" className="break">
              {problem}
            </Text>
          ))}
        </Alert>
      )}
      <Part title={words.processes}>
        <Processes workers={report.workers} />
      </Part>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Part title={words.trunks}>
          <Trunks report={report} />
        </Part>
        <Part title={words.providers}>
          <Providers report={report} />
        </Part>
        <Part title={words.database}>
          <DatabaseFacts report={report} />
        </Part>
        <Part title={words.queues}>
          <Queues report={report} />
        </Part>
      </SimpleGrid>
      <Part title={words.settings}>
        <Settings settings={report.settings} />
      </Part>
    </Stack>
  );
}

function stateOf(worker: OperatorWorker): readonly [Tone, string] {
  const { alive, draining, drain_requested_at: requested, live_calls: calls } = worker;
  if (!alive) return ['bad', words.states.silent];
  if (draining) return calls === 0 ? ['quiet', words.states.drained] : ['warn', words.states.draining];
  return requested === null ? ['good', words.states.alive] : ['warn', words.states.asked];
}

function Processes({ workers }: { readonly workers: readonly OperatorWorker[] }) {
  return (
    <Scroll label={words.processes}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.process}</Table.Th>
            <Table.Th>{words.roles}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th ta="right">{words.calls}</Table.Th>
            <Table.Th>{words.seen}</Table.Th>
            <Table.Th>{words.started}</Table.Th>
            <Table.Th>{text.common.actions}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {workers.map((worker) => {
            const [tone, state] = stateOf(worker);
            return (
              <Table.Tr key={worker.id}>
                <Table.Td>
                  <Text size="sm" fw={600}>
                    {worker.host}
                  </Text>
                  <Code>{worker.id}</Code>
                </Table.Td>
                <Table.Td>{worker.roles.join(', ')}</Table.Td>
                <Table.Td>
                  <State tone={tone}>{state}</State>
                </Table.Td>
                <Table.Td ta="right">{worker.live_calls}</Table.Td>
                <Table.Td className="nowrap">{show.time(worker.last_seen_at)}</Table.Td>
                <Table.Td className="nowrap">{show.dateTime(worker.started_at)}</Table.Td>
                <Table.Td>
                  <Drain worker={worker} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function Drain({ worker }: { readonly worker: OperatorWorker }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const resumes = worker.drain_requested_at !== null;
  const change = useMutation({
    mutationFn: (to: 'drain' | 'resume') => ask('POST', `/workers/${worker.id}/${to}`),
    onSettled: () => client.invalidateQueries({ queryKey: ['system'] }),
  });
  if (!worker.alive || !worker.roles.includes('worker')) return '–';
  return (
    <>
      <Button
        size="xs"
        variant="default"
        loading={change.isPending}
        aria-label={resumes ? words.resumeOf(worker.host) : words.drainOf(worker.host)}
        onClick={() => (resumes ? change.mutate('resume') : setAsking(true))}
      >
        {resumes ? words.resume : words.drain}
      </Button>
      {change.error !== null && <Failure error={change.error} />}
      {asking && (
        <Confirm
          title={words.drainTitle(worker.host)}
          about={words.drainText}
          submit={words.drain}
          onConfirm={() => change.mutateAsync('drain')}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

function Trunks({ report: { trunks } }: { readonly report: SystemReport }) {
  if (trunks.length === 0) return <Text c="dimmed">{text.trunks.empty}</Text>;
  return (
    <Stack gap="sm">
      {trunks.map((trunk) => (
        <div key={trunk.name}>
          <Anchor component={Link} to="/trunks" underline="always">
            {trunk.name}
          </Anchor>
          <TrunkState trunk={trunk} />
        </div>
      ))}
    </Stack>
  );
}

const providerNames = ['chat', 'realtime', 'cascade'] as const;

function Providers({ report }: { readonly report: SystemReport }) {
  const reports = report.workers.filter(({ alive }) => alive).flatMap(({ providers }) => providers);
  return (
    <Facts
      facts={providerNames.map((name) => [
        words.providerNames[name],
        <Provider
          key={name}
          isConfigured={report.providers_configured.includes(name)}
          reports={reports.filter(({ provider }) => provider === name)}
        />,
      ])}
    />
  );
}

/** Of all processes the newest success, the newest failure and the longest pause. */
function Provider({
  isConfigured,
  reports,
}: {
  readonly isConfigured: boolean;
  readonly reports: readonly ProviderReport[];
}) {
  if (!isConfigured) return <State tone="quiet">{words.notConfigured}</State>;
  const success = newest(reports.map(({ last_success_at: at }) => at));
  const failures = reports.flatMap(({ last_failure: failure }) => (failure === null ? [] : [failure]));
  const failure = failures.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
  const paused = newest(reports.map(({ paused_until: until }) => until));
  if (success === null && failure === null) return <Text size="sm">{words.notAsked}</Text>;
  const fails = failure !== null && (success === null || failure.at > success);
  return (
    <Stack gap={2}>
      {success !== null && (
        <State tone={fails ? 'quiet' : 'good'}>{`${words.lastSuccess}: ${show.dateTime(success)}`}</State>
      )}
      {failure !== null && (
        <>
          <State tone={fails ? 'bad' : 'quiet'}>{`${words.lastFailure}: ${show.dateTime(failure.at)}`}</State>
          <Text size="sm" className="break">
            {failure.note}
          </Text>
        </>
      )}
      {paused !== null && <State tone="warn">{words.pausedUntil(show.time(paused))}</State>}
    </Stack>
  );
}

const newest = (times: readonly (string | null)[]): string | null =>
  times.reduce((latest, time) => (time !== null && time > (latest ?? '') ? time : latest), null);

function DatabaseFacts({ report }: { readonly report: SystemReport }) {
  const { database, version, started_at: started } = report;
  return (
    <Facts
      facts={[
        [words.database, `${words.kinds[database.kind]}, PostgreSQL ${database.version}`],
        [words.size, show.bytes(database.size_bytes)],
        [words.latency, `${show.decimal(database.latency_ms)} ms`],
        [
          words.schema,
          `${database.migrations.at(-1)?.name ?? '–'} (${words.migrations(database.migrations.length)})`,
        ],
        ['Trunkcall', version],
        [words.uptime, show.dateTime(started)],
      ]}
    />
  );
}

function Queues({ report: { queues, webhooks } }: { readonly report: SystemReport }) {
  const waited = (seconds: number | null) =>
    seconds === null ? '–' : `${Math.max(0, Math.round(seconds))} s`;
  return (
    <Stack>
      {queues.length === 0 ? (
        <Text c="dimmed">{words.nothingWaits}</Text>
      ) : (
        <Scroll label={words.queues}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{words.queue}</Table.Th>
                <Table.Th ta="right">{words.waiting}</Table.Th>
                <Table.Th ta="right">{words.due}</Table.Th>
                <Table.Th ta="right">{words.leased}</Table.Th>
                <Table.Th ta="right">{words.oldest}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {queues.map(({ queue, waiting, due, leased, oldest_due_seconds: oldest }) => (
                <Table.Tr key={queue}>
                  <Table.Td>{words.queueNames[queue] ?? queue}</Table.Td>
                  <Table.Td ta="right">{waiting}</Table.Td>
                  <Table.Td ta="right">{due}</Table.Td>
                  <Table.Td ta="right">{leased}</Table.Td>
                  <Table.Td ta="right">{waited(oldest)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Scroll>
      )}
      <div>
        <Text fw={600}>{words.webhooks}</Text>
        <Facts
          facts={[
            [words.toSend, webhooks.due],
            [words.oldest, waited(webhooks.oldest_due_seconds)],
            [words.retrying, webhooks.waiting],
            [words.disabled, webhooks.endpoints_disabled],
          ]}
        />
      </div>
    </Stack>
  );
}

function Settings({ settings }: { readonly settings: readonly SettingInForce[] }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {words.settingsAbout}
      </Text>
      <Stack gap="xs" component="ul" className="plain">
        {settings.map((setting) => (
          <Group key={setting.variable} component="li" justify="space-between" gap="xs" className="row">
            <Code>{setting.variable}</Code>
            <Text size="sm" className="break">
              {valueOf(setting)}{' '}
              {setting.is_default && setting.is_set && (
                <Text span c="dimmed">
                  ({words.byDefault})
                </Text>
              )}
            </Text>
          </Group>
        ))}
      </Stack>
    </>
  );
}

function valueOf({ is_set, secret, value }: SettingInForce): string {
  if (!is_set) return words.notSet;
  return secret ? words.secretSet : (value ?? words.notSet);
}
