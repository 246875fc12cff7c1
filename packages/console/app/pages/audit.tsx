import { Button, Checkbox, Code, Group, Table } from '@mantine/core';
import type { ConsoleAuditEntry } from '@trunkcall/contract';
import { useState } from 'react';
import { query } from '../api.ts';
import { Empty, Loaded, Page, Scroll } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { audit: words } = text;

export default function Audit() {
  const { session, account } = usePlace();
  const [everywhere, setEverywhere] = useState(account === null);
  const asked = everywhere ? null : account?.id;
  const entries = usePages<ConsoleAuditEntry>(
    ['audit', asked],
    (after) => `/audit${query({ account: asked, after })}`,
  );
  return (
    <Page title={words.title} about={words.about}>
      {session.person.operator && (
        <Checkbox
          label={words.everywhere}
          checked={everywhere}
          disabled={account === null}
          onChange={(event) => setEverywhere(event.currentTarget.checked)}
        />
      )}
      <Loaded query={entries}>
        {(list) => (list.length === 0 ? <Empty title={words.empty} /> : <AuditTable entries={list} />)}
      </Loaded>
      {entries.hasMore && (
        <Group>
          <Button variant="default" loading={entries.loadingMore} onClick={entries.more}>
            {text.common.more}
          </Button>
        </Group>
      )}
    </Page>
  );
}

function AuditTable({ entries }: { readonly entries: readonly ConsoleAuditEntry[] }) {
  return (
    <Scroll label={words.title}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.when}</Table.Th>
            <Table.Th>{words.who}</Table.Th>
            <Table.Th>{words.what}</Table.Th>
            <Table.Th>{words.object}</Table.Th>
            <Table.Th>{words.details}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={entry.id}>
              <Table.Td className="nowrap">{show.dateTime(entry.created_at)}</Table.Td>
              <Table.Td miw={120}>{whoOf(entry)}</Table.Td>
              <Table.Td>{entry.action}</Table.Td>
              <Table.Td>
                <Code>{entry.object_id}</Code>
              </Table.Td>
              <Table.Td miw={240} className="break">
                {detailsOf(entry)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

/** Of what no person did, the program itself did nothing but this; the rest came with an operator token. */
const whoOf = ({ person, action }: ConsoleAuditEntry): string =>
  person?.name ?? (action === 'budget.reached' ? words.program : words.operatorApi);

const detailsOf = ({ details }: ConsoleAuditEntry): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : String(value)}`)
    .join(' · ');
