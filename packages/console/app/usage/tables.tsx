import { Anchor, Table } from '@mantine/core';
import type { AccountTotals, UsageAmounts, UsageCall, UsageDay, UsageGoal } from '@trunkcall/contract';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { Scroll } from '../parts/page.tsx';
import { show, text } from '../text.ts';

const { usage: words } = text;

/** A sum, or the least that it can be: a part that is not known is never shown as nothing. */
export const sumOf = (amount: string, { carrier_unknown: unknown }: UsageAmounts): string =>
  unknown === 0 ? show.money(amount) : words.atLeast(show.money(amount));

export const DayTable = ({ days }: { readonly days: readonly UsageDay[] }) => (
  <Sums label={words.sheets.day} head={words.day} rows={days} keyOf={({ day }) => day}>
    {({ day }) => <span className="nowrap">{show.day(day)}</span>}
  </Sums>
);

export const GoalTable = ({ goals }: { readonly goals: readonly UsageGoal[] }) => (
  <Sums label={words.sheets.goal} head={words.goal} rows={goals} keyOf={({ goal_id }) => goal_id ?? ''}>
    {({ goal_id, title }) =>
      goal_id === null ? (
        words.noGoal
      ) : (
        <Anchor component={Link} to={`/goals/${goal_id}`} underline="always">
          {title ?? goal_id}
        </Anchor>
      )
    }
  </Sums>
);

export const AccountTable = ({ accounts }: { readonly accounts: readonly AccountTotals[] }) => (
  <Sums
    label={words.sheets.account}
    head={words.account}
    rows={accounts}
    keyOf={({ account_id }) => account_id}
  >
    {({ name }) => name}
  </Sums>
);

function Sums<Row extends UsageAmounts>({
  label,
  head,
  rows,
  keyOf,
  children,
}: {
  readonly label: string;
  readonly head: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly children: (row: Row) => ReactNode;
}) {
  return (
    <Scroll label={label}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{head}</Table.Th>
            <Table.Th ta="right">{words.attempts}</Table.Th>
            <Table.Th ta="right">{words.answered}</Table.Th>
            <Table.Th ta="right">{words.model}</Table.Th>
            <Table.Th ta="right">{words.carrier}</Table.Th>
            <Table.Th ta="right">{words.total}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)}>
              <Table.Td>{children(row)}</Table.Td>
              <Table.Td ta="right">{row.attempts}</Table.Td>
              <Table.Td ta="right">{row.answered}</Table.Td>
              <Amount>{show.money(row.model)}</Amount>
              <Amount>{sumOf(row.carrier, row)}</Amount>
              <Amount>{sumOf(row.total, row)}</Amount>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

export function CallTable({ calls }: { readonly calls: readonly UsageCall[] }) {
  return (
    <Scroll label={words.sheets.call}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.day}</Table.Th>
            <Table.Th>{words.call}</Table.Th>
            <Table.Th>{words.mode}</Table.Th>
            <Table.Th>{words.country}</Table.Th>
            <Table.Th ta="right">{words.duration}</Table.Th>
            <Table.Th ta="right">{words.model}</Table.Th>
            <Table.Th ta="right">{words.carrier}</Table.Th>
            <Table.Th ta="right">{words.total}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {calls.map((call) => (
            <Table.Tr key={call.id}>
              <Table.Td className="nowrap">{show.day(call.day)}</Table.Td>
              <Table.Td className="nowrap">
                <CallLink call={call} />
              </Table.Td>
              <Table.Td className="nowrap">{words.modes[call.mode]}</Table.Td>
              <Table.Td>{call.country ?? '–'}</Table.Td>
              <Amount>
                {call.answered_seconds === null ? words.noAnswer : `${show.decimal(call.answered_seconds)} s`}
              </Amount>
              <Amount>{show.money(call.model)}</Amount>
              <Amount>{known(call.carrier)}</Amount>
              <Amount>{known(call.total)}</Amount>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

const known = (amount: string | null): string => (amount === null ? words.unknown : show.money(amount));

/** Ids are long and alike but for their ends. */
const short = (id: string): string => `…${id.slice(-8)}`;

function CallLink({ call: { goal_run_id, call_id, run_id } }: { readonly call: UsageCall }) {
  if (goal_run_id === null) return <span title={call_id ?? run_id}>{short(call_id ?? run_id)}</span>;
  return (
    <Anchor
      component={Link}
      to={`/runs/${goal_run_id}`}
      underline="always"
      aria-label={words.openRun(short(goal_run_id), goal_run_id)}
    >
      {short(goal_run_id)}
    </Anchor>
  );
}

const Amount = ({ children }: { readonly children: ReactNode }) => (
  <Table.Td ta="right" className="nowrap">
    {children}
  </Table.Td>
);
