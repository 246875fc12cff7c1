import { Anchor, Button, Code, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleDeliveryDetail, OperatorDeliveryTry } from '@trunkcall/contract';
import { useState, type ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { ask, read } from '../api.ts';
import { DeliveryStateMark, lastAnswer } from '../parts/delivery-table.tsx';
import { Failure, Loaded, Page, Scroll } from '../parts/page.tsx';
import { Copy } from '../parts/secret.tsx';
import { Part, Values, Verbatim } from '../parts/section.tsx';
import { useAccountOf, useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { delivery: words, webhooks } = text;

/** A try takes 15 s at most; one that is answered at once may be over before anybody says that it began. */
const lookAgainMs = 1_500;

export default function Delivery() {
  const { delivery: id = '' } = useParams();
  const query = useQuery({
    queryKey: ['delivery', id],
    queryFn: () => read<ConsoleDeliveryDetail>(`/webhook_deliveries/${id}`),
  });
  return <Loaded query={query}>{(delivery) => <DeliveryPage delivery={delivery} />}</Loaded>;
}

function DeliveryPage({ delivery }: { readonly delivery: ConsoleDeliveryDetail }) {
  useAccountOf(delivery.account_id);
  return (
    <Page title={delivery.type} actions={<Replay delivery={delivery} />}>
      <Group gap="lg">
        <DeliveryStateMark state={delivery.state} />
        <time dateTime={delivery.created_at}>{show.dateTime(delivery.created_at)}</time>
        <Anchor component={Link} to="/webhooks" underline="always">
          {words.back}
        </Anchor>
      </Group>
      <Part title={words.facts}>
        <Values values={factsOf(delivery)} />
      </Part>
      <Part title={words.tries}>
        {delivery.try_log.length === 0 ? (
          <Text c="dimmed">{words.noTries}</Text>
        ) : (
          <Tries tries={delivery.try_log} />
        )}
      </Part>
      <Part title={words.body}>
        <Body delivery={delivery} />
      </Part>
    </Page>
  );
}

function factsOf(delivery: ConsoleDeliveryDetail): Record<string, ReactNode> {
  const { next_try_at: next, ended_at: ended } = delivery;
  return {
    [words.to]: delivery.url,
    [words.call]: <Told delivery={delivery} />,
    [words.event]: <Code>{delivery.event_id}</Code>,
    [webhooks.last]: lastAnswer(delivery),
    ...(next === null ? {} : { [words.next]: show.precise(next) }),
    ...(ended === null ? {} : { [words.ended]: show.precise(ended) }),
  };
}

/** What the event tells of: a call, the Run of a call that came in, or nothing. */
function Told({ delivery: { type, call_id: id } }: { readonly delivery: ConsoleDeliveryDetail }) {
  if (id === null) return words.test;
  const page = type === 'inbound.completed' ? 'runs' : 'calls';
  return (
    <Anchor component={Link} to={`/${page}/${id}`} underline="always">
      {id}
    </Anchor>
  );
}

function Replay({ delivery }: { readonly delivery: ConsoleDeliveryDetail }) {
  const client = useQueryClient();
  const mayManage = useMay('webhook.manage', delivery.account_id);
  const refresh = () => client.invalidateQueries({ queryKey: ['delivery', delivery.id] });
  const replay = useMutation({
    mutationFn: () => ask('POST', `/webhook_deliveries/${delivery.id}/replay`),
    onSettled: async () => {
      await refresh();
      setTimeout(() => void refresh(), lookAgainMs);
    },
  });
  if (!mayManage) return null;
  return (
    <Stack gap="xs" align="flex-end">
      <Button loading={replay.isPending} title={words.replayHint} onClick={() => replay.mutate()}>
        {words.replay}
      </Button>
      {replay.error !== null && <Failure error={replay.error} />}
    </Stack>
  );
}

function Tries({ tries }: { readonly tries: readonly OperatorDeliveryTry[] }) {
  return (
    <Scroll label={words.tries}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.started}</Table.Th>
            <Table.Th ta="right">{words.took}</Table.Th>
            <Table.Th>{words.answer}</Table.Th>
            <Table.Th>{words.response}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tries.map(({ started_at, duration_ms, status, error, response }) => (
            <Table.Tr key={started_at}>
              <Table.Td className="nowrap">{show.precise(started_at)}</Table.Td>
              <Table.Td ta="right" className="nowrap">
                {show.span(duration_ms)}
              </Table.Td>
              <Table.Td className="break">{status ?? error ?? words.nothing}</Table.Td>
              <Table.Td className="pre" miw={180}>
                {response ?? ''}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

/** The body byte for byte, or laid out for the eye; what is copied is the former. */
function Body({ delivery: { body, masked } }: { readonly delivery: ConsoleDeliveryDetail }) {
  const [how, setHow] = useState<'readable' | 'exact'>('readable');
  return (
    <Stack gap="xs">
      {masked && (
        <Text size="sm" c="dimmed">
          {words.masked}
        </Text>
      )}
      <Group>
        <SegmentedControl
          aria-label={words.how}
          value={how}
          onChange={(value) => setHow(value === 'exact' ? 'exact' : 'readable')}
          data={[
            { value: 'readable', label: words.readable },
            { value: 'exact', label: words.exact },
          ]}
        />
        <Copy value={body} />
      </Group>
      <Verbatim label={words.body}>{how === 'exact' ? body : readable(body)}</Verbatim>
    </Stack>
  );
}

function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
