import { Anchor, Button, Group, SimpleGrid, Table, Text } from '@mantine/core';
import type { ConsoleCall } from '@trunkcall/contract';
import { Link } from 'react-router';
import { query } from '../api.ts';
import { CallState } from '../call/call-state.tsx';
import { Choice, TimeField, useFilters, utc } from '../parts/filters.tsx';
import { Empty, Loaded, Page, Scroll } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { useAccount } from '../session.tsx';
import { show, text } from '../text.ts';

const { calls: words, runs } = text;

type Filter = 'kind' | 'status' | 'since' | 'until';

export default function Calls() {
  const { id } = useAccount();
  const chosen = useFilters<Filter>();
  const asked = {
    kind: chosen.value('kind'),
    status: chosen.value('status'),
    since: utc(chosen.value('since')),
    until: utc(chosen.value('until')),
  };
  const calls = usePages<ConsoleCall>(
    ['calls', id, asked],
    (after) => `/accounts/${id}/calls${query({ ...asked, after })}`,
  );
  return (
    <Page title={words.title} about={words.about}>
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Choice filters={chosen} name="kind" label={words.kind} options={Object.entries(words.kinds)} />
        <Choice filters={chosen} name="status" label={runs.status} options={Object.entries(runs.statuses)} />
        <TimeField filters={chosen} name="since" label={runs.since} />
        <TimeField filters={chosen} name="until" label={runs.until} />
      </SimpleGrid>
      <Loaded query={calls}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={words.empty} hint={words.emptyHint} />
          ) : (
            <CallTable calls={list} />
          )
        }
      </Loaded>
      {calls.hasMore && (
        <Group>
          <Button variant="default" loading={calls.loadingMore} onClick={calls.more}>
            {text.common.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}

function CallTable({ calls }: { readonly calls: readonly ConsoleCall[] }) {
  return (
    <Scroll label={words.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{runs.started}</Table.Th>
            <Table.Th>{words.kind}</Table.Th>
            <Table.Th>{words.task}</Table.Th>
            <Table.Th ta="right">{words.recipients}</Table.Th>
            <Table.Th>{runs.outcome}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map((call) => (
            <Table.Tr key={call.id}>
              <Table.Td className="nowrap">
                <Anchor
                  component={Link}
                  to={`/calls/${call.id}`}
                  underline="always"
                  aria-label={words.open(show.dateTime(call.created_at), call.id)}
                >
                  {show.dateTime(call.created_at)}
                </Anchor>
              </Table.Td>
              <Table.Td className="nowrap">{words.kinds[call.kind]}</Table.Td>
              <Table.Td miw={200}>
                <Text size="sm" lineClamp={2} className="break">
                  {call.task}
                </Text>
              </Table.Td>
              <Table.Td ta="right">{call.recipients}</Table.Td>
              <Table.Td>
                <CallState call={call} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}
