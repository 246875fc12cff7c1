import { Anchor, Code, Table, Text } from '@mantine/core';
import type { DeliveryState, OperatorDelivery } from '@trunkcall/contract';
import { Link } from 'react-router';
import { show, text } from '../text.ts';
import { Scroll, State, type Tone } from './page.tsx';
import { Part } from './section.tsx';

const { webhooks: words, call } = text;

const tones: Readonly<Record<DeliveryState, Tone>> = {
  pending: 'busy',
  delivered: 'good',
  failed: 'bad',
  abandoned: 'quiet',
};

export function DeliveryStateMark({ state }: { readonly state: DeliveryState }) {
  return <State tone={tones[state]}>{words.deliveryStates[state]}</State>;
}

/** What the receiver said last, or why it said nothing. */
export const lastAnswer = ({ last_status: status, last_error: error }: OperatorDelivery): string =>
  status === null ? (error ?? '–') : String(status);

/** What was told of a call or a Run, and to whom. */
export function Deliveries({ of }: { readonly of: readonly OperatorDelivery[] }) {
  return (
    <Part title={call.deliveries}>
      {of.length === 0 ? (
        <Text c="dimmed">{call.noDeliveries}</Text>
      ) : (
        <DeliveryTable deliveries={of} label={call.deliveries} />
      )}
    </Part>
  );
}

export function DeliveryTable({
  deliveries,
  label,
}: {
  readonly deliveries: readonly OperatorDelivery[];
  readonly label: string;
}) {
  return (
    <Scroll label={label}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.when}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th>{words.event}</Table.Th>
            <Table.Th ta="right">{words.tries}</Table.Th>
            <Table.Th>{words.last}</Table.Th>
            <Table.Th>{words.to}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {deliveries.map((delivery) => (
            <Table.Tr key={delivery.id}>
              <Table.Td className="nowrap">
                <Anchor
                  component={Link}
                  to={`/deliveries/${delivery.id}`}
                  underline="always"
                  aria-label={words.open(show.dateTime(delivery.created_at), delivery.type, delivery.id)}
                >
                  {show.dateTime(delivery.created_at)}
                </Anchor>
              </Table.Td>
              <Table.Td>
                <DeliveryStateMark state={delivery.state} />
              </Table.Td>
              <Table.Td>
                <Code>{delivery.type}</Code>
              </Table.Td>
              <Table.Td ta="right">{delivery.tries}</Table.Td>
              <Table.Td className="break">{lastAnswer(delivery)}</Table.Td>
              <Table.Td className="break" miw={180}>
                {delivery.url}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}
