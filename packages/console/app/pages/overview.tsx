import { Paper, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { ConsoleOverview } from '@trunkcall/contract';
import { read } from '../api.ts';
import { Alerts } from '../parts/alerts.tsx';
import { HourPlot } from '../parts/hour-plot.tsx';
import { Empty, Loaded, Page } from '../parts/page.tsx';
import { RunOutcome } from '../parts/run-state.tsx';
import { Stat } from '../parts/stat.tsx';
import { useAccount } from '../session.tsx';
import { show, text } from '../text.ts';

const { overview } = text;

export default function Overview() {
  const { id } = useAccount();
  const query = useQuery({
    queryKey: ['overview', id],
    queryFn: () => read<ConsoleOverview>(`/accounts/${id}/overview`),
    placeholderData: keepPreviousData,
  });
  return (
    <Page title={overview.title}>
      <Loaded query={query}>{(data) => <Numbers data={data} />}</Loaded>
    </Page>
  );
}

function Numbers({ data }: { readonly data: ConsoleOverview }) {
  const { first_word: words, answer_wait: waits, oldest_waiting_seconds: oldest } = data;
  return (
    <Stack gap="lg">
      {data.alerts.length > 0 && <Alerts alerts={data.alerts} />}
      <SimpleGrid cols={{ base: 2, sm: 3, lg: 6 }}>
        <Stat label={overview.now} value={String(data.calls_now)} hint={overview.of(data.max_calls)} />
        <Stat
          label={overview.waiting}
          value={String(data.waiting)}
          hint={oldest === null ? overview.nobody : overview.oldest(Math.max(0, oldest))}
        />
        <Stat label={overview.answered} value={show.percent(data.answer_rate)} hint={overview.ofPlaced} />
        <Stat label={overview.results} value={show.percent(data.result_rate)} hint={overview.ofAnswered} />
        <Stat
          label={overview.firstWord}
          value={words === null ? '–' : `${show.decimal(words.p50)} s`}
          hint={words === null ? overview.afterAnswer : overview.p95(show.decimal(words.p95))}
        />
        <Stat
          label={overview.answerWait}
          value={waits === null ? '–' : `${show.decimal(waits.p50)} s`}
          hint={waits === null ? overview.afterCallee : overview.p95(show.decimal(waits.p95))}
        />
      </SimpleGrid>
      <Paper withBorder p="md">
        <Title order={2} size="h4" mb="sm">
          {overview.day}
        </Title>
        {data.runs === 0 ? (
          <Empty title={overview.empty} hint={overview.emptyHint} />
        ) : (
          <HourPlot hours={data.hours} />
        )}
      </Paper>
      {data.runs > 0 && (
        <Paper withBorder p="md">
          <Title order={2} size="h4" mb="sm">
            {overview.outcomes}
          </Title>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{overview.outcome}</Table.Th>
                <Table.Th ta="right">{overview.runs}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.outcomes.map(({ status, error, runs }) => (
                <Table.Tr key={`${status} ${error}`}>
                  <Table.Td>
                    <RunOutcome status={status} error={error} />
                  </Table.Td>
                  <Table.Td ta="right">{runs}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          {data.runs >= data.counted_at_most && (
            <Text size="sm" c="dimmed">
              {overview.newest(data.counted_at_most)}
            </Text>
          )}
        </Paper>
      )}
    </Stack>
  );
}
