import { Alert, Anchor, Button, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  AddNumberRequest,
  ConsoleGoal,
  OperatorList,
  OperatorNumber,
  RungNumber,
  UpdateNumberRequest,
} from '@trunkcall/contract';
import { useState, type ReactNode } from 'react';
import { Link } from 'react-router';
import { ask, read, readAll } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog, DialogForm } from '../parts/dialog.tsx';
import { SavedChoice } from '../parts/saved-choice.tsx';
import { Empty, Failure, Loaded, Page, Scroll, State } from '../parts/page.tsx';
import { useAccount, useMay, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { numbers: words } = text;

export default function Numbers() {
  const { id } = useAccount();
  const { session } = usePlace();
  const [adding, { open, close }] = useDisclosure();
  const query = useQuery({
    queryKey: ['numbers', id],
    queryFn: () => read<OperatorList<OperatorNumber>>(`/accounts/${id}/numbers`),
  });
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={session.person.operator && <Button onClick={open}>{words.add}</Button>}
    >
      <Loaded query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Empty title={words.empty} hint={words.emptyHint} />
          ) : (
            <NumberTable numbers={data} />
          )
        }
      </Loaded>
      {adding && <NumberForm number={null} onClose={close} />}
    </Page>
  );
}

/** Of what is asked, and what then is shown anew. */
function useNumberChange<T>(change: () => Promise<T>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => client.invalidateQueries({ queryKey: ['numbers'] }),
  });
}

function NumberTable({ numbers }: { readonly numbers: readonly OperatorNumber[] }) {
  const { id } = useAccount();
  const mayAssign = useMay('number.assign');
  const { session } = usePlace();
  const [rung, setRung] = useState<RungNumber | null>(null);
  const goals = useQuery({
    queryKey: ['goals', id, 'all'],
    queryFn: () => readAll<ConsoleGoal>(`/accounts/${id}/goals`),
  });
  return (
    <>
      {rung !== null && <Outcome rung={rung} onClose={() => setRung(null)} />}
      <Scroll label={words.title}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{words.number}</Table.Th>
              <Table.Th>{words.owner}</Table.Th>
              <Table.Th>{words.answers}</Table.Th>
              <Table.Th>{words.refused}</Table.Th>
              {mayAssign && <Table.Th>{text.common.actions}</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {numbers.map((number) => (
              <Table.Tr key={number.id}>
                <Table.Td>
                  <Text span className="nowrap">
                    {number.phone}
                  </Text>
                  {number.label !== '' && (
                    <Text size="sm" c="dimmed" className="break">
                      {number.label}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td miw={140}>
                  {number.account_id === null ? words.shared : words.own}
                  {number.is_default && <State tone="good">{words.isDefault}</State>}
                </Table.Td>
                <Table.Td miw={180}>
                  <Answering number={number} goals={goals.data ?? []} />
                </Table.Td>
                <Table.Td>{refusedOf(number)}</Table.Td>
                {mayAssign && (
                  <Table.Td>
                    {(session.person.operator || number.account_id !== null) && (
                      <Actions number={number} onRung={setRung} />
                    )}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Scroll>
    </>
  );
}

function refusedOf({ refused_today }: OperatorNumber): string {
  const told = Object.entries(refused_today).map(
    ([reason, calls]) => `${show.decimal(calls)} ${words.refusals[reason as keyof typeof words.refusals]}`,
  );
  return told.length === 0 ? '–' : told.join(', ');
}

interface AnsweringProps {
  readonly number: OperatorNumber;
  readonly goals: readonly ConsoleGoal[];
}

function Answering({ number, goals }: AnsweringProps) {
  const mayAssign = useMay('number.assign');
  const assign = useMutation({
    mutationFn: (goal: string) => {
      const json: UpdateNumberRequest = { inbound_goal: goal === '' ? null : goal };
      return ask<OperatorNumber>('PATCH', `/numbers/${number.id}`, { json });
    },
    onSettled: () => client.invalidateQueries({ queryKey: ['numbers'] }),
  });
  const client = useQueryClient();
  const { inbound_goal_id: answering } = number;
  const known = goals.find(({ id }) => id === answering);
  if (number.account_id === null) return words.nobody;
  if (!mayAssign) {
    return answering === null ? (
      words.nobody
    ) : (
      <Anchor component={Link} to={`/goals/${answering}`} underline="always">
        {known?.title ?? answering}
      </Anchor>
    );
  }
  const choices = goals.filter(({ id, state }) => state !== 'retired' || id === answering);
  return (
    <Stack gap="xs" miw={180}>
      <SavedChoice
        label={words.answersOf(number.phone)}
        value={answering ?? ''}
        saving={assign.isPending}
        options={[
          { value: '', label: words.nobody },
          ...choices.map(({ id, title }) => ({ value: id, label: title })),
          // Whatever is loaded: who answers now is never shown as nobody.
          ...(answering === null || known !== undefined ? [] : [{ value: answering, label: answering }]),
        ]}
        onSave={(goal) => assign.mutate(goal)}
      />
      {known !== undefined && known.state !== 'active' && (
        <State tone="warn">{words.notActive(text.goals.states[known.state])}</State>
      )}
      {assign.error !== null && <Failure error={assign.error} />}
    </Stack>
  );
}

interface ActionsProps {
  readonly number: OperatorNumber;
  readonly onRung: (rung: RungNumber) => void;
}

function Actions({ number, onRung }: ActionsProps) {
  const { session } = usePlace();
  const [editing, edit] = useDisclosure();
  const [removing, remove] = useDisclosure();
  const client = useQueryClient();
  const ring = useMutation({
    mutationFn: () => ask<RungNumber>('POST', `/numbers/${number.id}/ring`, { json: {} }),
    onSuccess: async (rung) => {
      onRung(rung);
      await client.invalidateQueries({ queryKey: ['numbers'] });
    },
  });
  const setDefault = useNumberChange(() =>
    ask('PATCH', `/accounts/${number.account_id}`, {
      json: { default_number: number.is_default ? null : number.id },
    }),
  );
  const { operator } = session.person;
  const action = (label: string, onClick: () => void, loading = false): ReactNode => (
    <Button
      size="xs"
      variant="default"
      aria-label={words.actionOn(label, number.phone)}
      loading={loading}
      onClick={onClick}
    >
      {label}
    </Button>
  );
  return (
    <>
      <Group gap="xs" miw={200}>
        {session.environment === 'test' && action(words.ring, () => ring.mutate(), ring.isPending)}
        {action(words.edit, edit.open)}
        {operator &&
          number.account_id !== null &&
          action(
            number.is_default ? words.hide : words.show,
            () => setDefault.mutate(),
            setDefault.isPending,
          )}
        {operator && !number.is_default && action(text.common.remove, remove.open)}
      </Group>
      {ring.error !== null && <Failure error={ring.error} />}
      {setDefault.error !== null && <Failure error={setDefault.error} />}
      {editing && <NumberForm number={number} onClose={edit.close} />}
      {removing && (
        <Confirm
          title={words.removeTitle(number.phone)}
          about={words.removeText}
          submit={text.common.remove}
          onClose={remove.close}
          onConfirm={async () => {
            await ask('POST', `/numbers/${number.id}/remove`);
            await client.invalidateQueries({ queryKey: ['numbers'] });
          }}
        />
      )}
    </>
  );
}

/** What became of a simulated call. */
function Outcome({ rung, onClose }: { readonly rung: RungNumber; readonly onClose: () => void }) {
  return (
    <Alert
      variant="outline"
      role="status"
      withCloseButton
      closeButtonLabel={text.common.close}
      onClose={onClose}
    >
      <Group gap="sm">
        <Text>{words.rung[rung.outcome]}</Text>
        {rung.run !== null && (
          <Anchor component={Link} to={`/runs/${rung.run.id}`} underline="always">
            {words.openRun}
          </Anchor>
        )}
      </Group>
    </Alert>
  );
}

interface NumberFormProps {
  /** Null: a new one. */
  readonly number: OperatorNumber | null;
  readonly onClose: () => void;
}

function NumberForm({ number, onClose }: NumberFormProps) {
  const { id } = useAccount();
  const { session } = usePlace();
  const [phone, setPhone] = useState('');
  const [label, setLabel] = useState(number?.label ?? '');
  const [owner, setOwner] = useState(number === null || number.account_id !== null ? 'own' : 'shared');
  const title = number === null ? words.add : words.editTitle(number.phone);
  const save = useNumberChange(async () => {
    const account = owner === 'own' ? id : null;
    if (number === null) {
      const json: AddNumberRequest = { phone, label, ...(account === null ? {} : { account }) };
      await ask('POST', '/numbers', { json });
    } else {
      const moved = account !== number.account_id;
      const json: UpdateNumberRequest = { label, ...(moved ? { account } : {}) };
      await ask('PATCH', `/numbers/${number.id}`, { json });
    }
    onClose();
  });
  return (
    <Dialog title={title} onClose={onClose}>
      <DialogForm work={save} submit={number === null ? words.add : text.common.save}>
        {number === null && (
          <TextInput
            label={words.number}
            description={words.numberHint}
            required
            inputMode="tel"
            maxLength={16}
            value={phone}
            onChange={(event) => setPhone(event.currentTarget.value)}
          />
        )}
        <TextInput
          label={words.label}
          description={words.labelHint}
          maxLength={100}
          value={label}
          onChange={(event) => setLabel(event.currentTarget.value)}
        />
        {session.person.operator && (
          <NativeSelect
            label={words.owner}
            value={owner}
            data={[
              { value: 'own', label: words.own },
              { value: 'shared', label: words.shared },
            ]}
            onChange={(event) => setOwner(event.currentTarget.value)}
          />
        )}
      </DialogForm>
    </Dialog>
  );
}
