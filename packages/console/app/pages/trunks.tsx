import { Button, Group, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OperatorList, OperatorTestCall, OperatorTrunk, TrunkServer } from '@trunkcall/contract';
import { useState } from 'react';
import { ask, read } from '../api.ts';
import { Facts } from '../parts/facts.tsx';
import { Part } from '../parts/section.tsx';
import { Empty, Failure, Loaded, Page, Scroll, State, type Tone } from '../parts/page.tsx';
import { soundOf } from '../parts/sound.ts';
import { TrunkState } from '../parts/trunk-state.tsx';
import { usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { trunks: words } = text;

export default function Trunks() {
  const { session } = usePlace();
  const query = useQuery({
    queryKey: ['trunks'],
    queryFn: () => read<OperatorList<OperatorTrunk>>('/trunks'),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={words.title} about={session.environment === 'test' ? words.test : words.about}>
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty} hint={words.emptyHint} />
          ) : (
            <Stack>
              {data.map((trunk) => (
                <Trunk key={trunk.name} trunk={trunk} />
              ))}
            </Stack>
          )
        }
      </Loaded>
    </Page>
  );
}

function Trunk({ trunk }: { readonly trunk: OperatorTrunk }) {
  return (
    <Part title={trunk.name}>
      <Stack>
        <TrunkState trunk={trunk} />
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="xl">
          <div>
            <Configured trunk={trunk} />
          </div>
          <TestCall trunk={trunk} />
        </SimpleGrid>
        {trunk.workers.length > 0 && <Processes trunk={trunk} />}
      </Stack>
    </Part>
  );
}

function Configured({ trunk }: { readonly trunk: OperatorTrunk }) {
  const {
    proxy,
    last_failure: failure,
    countries,
    allow_prefixes: prefixes,
    caller_numbers: numbers,
  } = trunk;
  return (
    <Facts
      facts={[
        [words.proxy, proxy === null ? null : hostOf(proxy)],
        [words.transport, proxy === null ? null : (proxy.transport?.toUpperCase() ?? words.bySrv)],
        [words.lines, words.of(trunk.lines_in_use, trunk.max_calls)],
        [words.rate, trunk.calls_per_second ?? words.noLimit],
        [words.today, trunk.calls_today],
        [words.spend, show.micros(trunk.spend_today_micros)],
        [words.countries, countries.length === 0 ? null : countries.join(', ')],
        [words.prefixes, prefixes.length === 0 ? null : prefixes.join(', ')],
        [words.numbers, numbers.length === 0 ? null : numbers.join(', ')],
        [words.failure, failure === null ? null : <Failed key="failure" failure={failure} />],
      ]}
    />
  );
}

const hostOf = ({ host, port }: TrunkServer): string => (port === undefined ? host : `${host}:${port}`);

function Failed({ failure }: { readonly failure: NonNullable<OperatorTrunk['last_failure']> }) {
  const { at, note } = failure;
  return [show.dateTime(at), ...codesOf(failure), ...(note === null ? [] : [note])].join(' · ');
}

const codesOf = ({
  sip_status: status,
  q850,
}: {
  sip_status: number | null;
  q850: number | null;
}): string[] => [...(status === null ? [] : [`SIP ${status}`]), ...(q850 === null ? [] : [`Q.850 ${q850}`])];

function Processes({ trunk }: { readonly trunk: OperatorTrunk }) {
  return (
    <Scroll label={`${trunk.name}: ${words.processes}`}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.process}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th ta="right">{words.calls}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {trunk.workers.map((report) => (
            <Table.Tr key={report.worker_id}>
              <Table.Td>{report.host}</Table.Td>
              <Table.Td>
                <TrunkState trunk={report} />
              </Table.Td>
              <Table.Td ta="right">{report.calls}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

/** The number stays in this page and in the body of the request. */
function TestCall({ trunk: { name, last_test: last } }: { readonly trunk: OperatorTrunk }) {
  const client = useQueryClient();
  const [phone, setPhone] = useState('');
  const place = useMutation({
    mutationFn: () =>
      ask('POST', `/trunks/${encodeURIComponent(name)}/test-calls`, {
        json: { phone: phone.replaceAll(' ', '') },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ['trunks'] }),
  });
  const isRunning = last !== null && last.state !== 'ended';
  return (
    <form
      aria-label={`${name}: ${words.testTitle}`}
      onSubmit={(event) => {
        event.preventDefault();
        place.mutate();
      }}
    >
      <Stack gap="sm">
        <Text fw={600}>{words.testTitle}</Text>
        <Text size="sm" c="dimmed">
          {words.testAbout}
        </Text>
        <TextInput
          type="tel"
          autoComplete="off"
          label={words.phone}
          description={words.phoneHint}
          required
          value={phone}
          onChange={(event) => setPhone(event.currentTarget.value)}
        />
        {place.error !== null && <Failure error={place.error} />}
        <Group>
          <Button type="submit" disabled={isRunning} loading={place.isPending}>
            {words.place}
          </Button>
        </Group>
        {last !== null && <Result call={last} />}
      </Stack>
    </form>
  );
}

function Result({ call }: { readonly call: OperatorTestCall }) {
  const { state, outcome, note, media } = call;
  const tone: Tone = state !== 'ended' ? 'busy' : outcome === 'passed' ? 'good' : 'bad';
  const ended = outcome === null ? words.running : (words.outcomes[outcome] ?? outcome);
  return (
    <section aria-label={words.last} aria-live="polite">
      <Group gap="sm">
        <State tone={tone}>{ended}</State>
        <Text size="sm">{[...codesOf(call), call.phone, show.dateTime(call.created_at)].join(' · ')}</Text>
      </Group>
      {note !== null && <Text size="sm">{note}</Text>}
      <ol className="timeline">
        {call.steps.map(({ step, at }) => (
          <li key={step}>
            <time dateTime={at}>
              +{show.decimal((Date.parse(at) - Date.parse(call.created_at)) / 1_000)} s
            </time>
            <Text size="sm">{words.steps[step]}</Text>
          </li>
        ))}
      </ol>
      {media !== null && <Text size="sm">{`${words.media}: ${soundOf(media)}`}</Text>}
    </section>
  );
}
