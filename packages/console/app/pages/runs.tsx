import { Anchor, Button, Group, NativeSelect, SimpleGrid, Table, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ConsoleGoal, ConsoleRun, OperatorList } from '@trunkcall/contract';
import { Link, useSearchParams } from 'react-router';
import { query, read } from '../api.ts';
import { Empty, Loaded, Page, Scroll } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { isDrawing, RunOutcome } from '../parts/run-state.tsx';
import { useAccount } from '../session.tsx';
import { show, text } from '../text.ts';

const { runs: words } = text;

const filters = ['goal', 'status', 'error', 'digits', 'since', 'until'] as const;
type Filter = (typeof filters)[number];

/** The filters stand in the address, so that a view can be sent to somebody. */
export default function Runs() {
  const { id } = useAccount();
  const [search, setSearch] = useSearchParams();
  const value = (name: Filter) => search.get(name) ?? '';
  const set = (name: Filter, next: string) => {
    setSearch(
      (now) => {
        const changed = new URLSearchParams(now);
        if (next === '') changed.delete(name);
        else changed.set(name, next);
        return changed;
      },
      { replace: true },
    );
  };
  const asked = Object.fromEntries(filters.map((name) => [name, sentAs(name, value(name))]));
  const runs = usePages<ConsoleRun>(
    ['runs', id, asked],
    (after) => `/accounts/${id}/runs${query({ ...asked, after })}`,
  );
  return (
    <Page title={words.title}>
      <Filters value={value} set={set} />
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

/** What is whole enough to ask with; a local time becomes one in UTC. */
function sentAs(name: Filter, value: string): string {
  if (value === '') return '';
  if (name === 'digits') return /^\d{2,4}$/.test(value) ? value : '';
  if (name !== 'since' && name !== 'until') return value;
  const time = new Date(value);
  return Number.isNaN(time.getTime()) ? '' : time.toISOString();
}

interface FiltersProps {
  readonly value: (name: Filter) => string;
  readonly set: (name: Filter, value: string) => void;
}

function Filters({ value, set }: FiltersProps) {
  const { id } = useAccount();
  const goals = useQuery({
    queryKey: ['goals', id, 'all'],
    queryFn: () => read<OperatorList<ConsoleGoal>>(`/accounts/${id}/goals?limit=100`),
  });
  const choice = (name: Filter, label: string, options: readonly (readonly [string, string])[]) => (
    <NativeSelect
      label={label}
      value={value(name)}
      data={[
        { value: '', label: text.common.all },
        ...options.map(([option, shown]) => ({ value: option, label: shown })),
      ]}
      onChange={(event) => set(name, event.currentTarget.value)}
    />
  );
  const time = (name: Filter, label: string) => (
    <TextInput
      type="datetime-local"
      label={label}
      value={value(name)}
      onChange={(event) => set(name, event.currentTarget.value)}
    />
  );
  return (
    <SimpleGrid cols={{ base: 2, md: 6 }}>
      {choice(
        'goal',
        words.goal,
        (goals.data?.data ?? []).map((goal) => [goal.id, goal.title]),
      )}
      {choice('status', words.status, Object.entries(words.statuses))}
      {choice('error', words.error, Object.entries(text.errors))}
      <TextInput
        label={words.digits}
        placeholder={words.digitsHint}
        inputMode="numeric"
        maxLength={4}
        value={value('digits')}
        onChange={(event) => set('digits', event.currentTarget.value)}
      />
      {time('since', words.since)}
      {time('until', words.until)}
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
              <Table.Td>
                {run.title} v{run.run_spec.version}
              </Table.Td>
              <Table.Td className="nowrap">{run.phone}</Table.Td>
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
  return `${show.decimal((Date.parse(completed_at) - Date.parse(created_at)) / 1_000)} s`;
}
