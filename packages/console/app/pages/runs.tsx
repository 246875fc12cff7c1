import { Anchor, Button, Group, SimpleGrid, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ConsoleGoal, ConsoleRun } from '@trunkcall/contract';
import { Link } from 'react-router';
import { query, readAll } from '../api.ts';
import { Choice, TimeField, useFilters, utc, type Filters } from '../parts/filters.tsx';
import { Empty, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { isDrawing, RunOutcome } from '../parts/run-state.tsx';
import { useAccount } from '../session.tsx';
import { show, text } from '../text.ts';

const { runs: words } = text;

const filters = ['goal', 'direction', 'status', 'error', 'digits', 'since', 'until'] as const;
type Filter = (typeof filters)[number];

export default function Runs() {
  const { id } = useAccount();
  const chosen = useFilters<Filter>();
  const asked = Object.fromEntries(filters.map((name) => [name, sentAs(name, chosen.value(name))]));
  const runs = usePages<ConsoleRun>(
    ['runs', id, asked],
    (after) => `/accounts/${id}/runs${query({ ...asked, after })}`,
  );
  return (
    <Page title={words.title}>
      <RunFilters filters={chosen} />
      <Loaded query={runs}>
        {(list) =>
          list.length === 0 ? <Empty title={words.empty} hint={words.emptyHint} /> : <RunTable runs={list} />
        }
      </Loaded>
      {runs.hasMore && (
        <Group>
          <Button variant="default" loading={runs.loadingMore} onClick={runs.more}>
            {text.common.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** What is whole enough to ask with. */
function sentAs(name: Filter, value: string): string {
  if (name === 'digits') return /^\d{2,4}$/.test(value) ? value : '';
  return name === 'since' || name === 'until' ? utc(value) : value;
}

function RunFilters({ filters: chosen }: { readonly filters: Filters<Filter> }) {
  const { id } = useAccount();
  const goals = useQuery({
    queryKey: ['goals', id, 'all'],
    queryFn: () => readAll<ConsoleGoal>(`/accounts/${id}/goals`),
  });
  const titles = (goals.data ?? []).map((goal) => [goal.id, goal.title] as const);
  return (
    <SimpleGrid cols={{ base: 2, md: 4 }}>
      <Choice filters={chosen} name="goal" label={words.goal} options={titles} />
      <Choice
        filters={chosen}
        name="direction"
        label={words.direction}
        options={Object.entries(words.directions)}
      />
      <Choice filters={chosen} name="status" label={words.status} options={Object.entries(words.statuses)} />
      <Choice filters={chosen} name="error" label={words.error} options={Object.entries(text.errors)} />
      <TextInput
        label={words.digits}
        placeholder={words.digitsHint}
        inputMode="numeric"
        maxLength={4}
        value={chosen.value('digits')}
        onChange={(event) => chosen.set('digits', event.currentTarget.value)}
      />
      <TimeField filters={chosen} name="since" label={words.since} />
      <TimeField filters={chosen} name="until" label={words.until} />
    </SimpleGrid>
  );
}

function RunTable({ runs }: { readonly runs: readonly ConsoleRun[] }) {
  return (
    <Scroll label={words.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.started}</Table.Th>
            <Table.Th>{words.goal}</Table.Th>
            <Table.Th>{words.number}</Table.Th>
            <Table.Th>{words.outcome}</Table.Th>
            <Table.Th ta="right">{words.took}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {runs.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Td className="nowrap">
                <Anchor
                  component={Link}
                  to={`/runs/${run.id}`}
                  underline="always"
                  aria-label={words.open(show.dateTime(run.created_at), run.id)}
                >
                  {show.dateTime(run.created_at)}
                </Anchor>
              </Table.Td>
              <Table.Td miw={150}>
                {run.title} v{run.run_spec.version}
              </Table.Td>
              <Table.Td className="nowrap">
                <Group gap="sm" wrap="nowrap">
                  {run.phone ?? words.anonymous}
                  {run.direction === 'inbound' && <State tone="quiet">{words.directions.inbound}</State>}
                </Group>
              </Table.Td>
              <Table.Td>
                <RunOutcome status={run.status} error={run.error?.code ?? null} drawing={isDrawing(run)} />
              </Table.Td>
              <Table.Td ta="right" className="nowrap">
                {took(run)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

function took({ created_at, completed_at }: ConsoleRun): string {
  if (completed_at === null) return '–';
  return show.span(Date.parse(completed_at) - Date.parse(created_at));
}
