import { Button, Menu, Stack, Table, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { OperatorDelivery, OperatorWebhook, WebhookWithSecret } from '@trunkcall/contract';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { ask } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Scroll, State } from '../parts/page.tsx';
import { Secret } from '../parts/secret.tsx';
import { useMay } from '../session.tsx';
import { show, text } from '../text.ts';

const { webhooks: words } = text;

export function EndpointTable({ endpoints }: { readonly endpoints: readonly OperatorWebhook[] }) {
  const mayManage = useMay('webhook.manage');
  return (
    <Scroll label={words.endpoints}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.url}</Table.Th>
            <Table.Th>{words.state}</Table.Th>
            <Table.Th>{words.types}</Table.Th>
            <Table.Th>{words.signature}</Table.Th>
            {mayManage && <Table.Th>{text.common.actions}</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {endpoints.map((endpoint) => (
            <Table.Tr key={endpoint.id}>
              <Table.Td miw={180}>
                <Text size="sm" className="break">
                  {endpoint.url}
                </Text>
                <Text size="sm" c="dimmed" className="break">
                  {endpoint.description}
                </Text>
              </Table.Td>
              <Table.Td miw={160}>
                <EndpointState endpoint={endpoint} />
              </Table.Td>
              <Table.Td miw={220}>
                {endpoint.types.map((type) => (
                  <Text key={type} size="sm">
                    {words.typeNames[type]}
                  </Text>
                ))}
              </Table.Td>
              <Table.Td miw={120}>
                <Text size="sm">{endpoint.signed ? words.signedYes : words.signedNo}</Text>
                {endpoint.previous_secret_until !== null && (
                  <Text size="sm" c="dimmed">
                    {words.overlap(show.dateTime(endpoint.previous_secret_until))}
                  </Text>
                )}
              </Table.Td>
              {mayManage && (
                <Table.Td>
                  <Actions endpoint={endpoint} />
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
}

/** Whether it is used; else since when not, and why. */
function EndpointState({ endpoint }: { readonly endpoint: OperatorWebhook }) {
  const { enabled, disabled_at: disabledAt, disabled_reason: reason, failing_since: failing } = endpoint;
  if (!enabled) {
    return (
      <>
        <State tone="bad">{words.states.disabled}</State>
        <Text size="sm" c="dimmed">
          {reason !== null && words.reasons[reason]}
          {disabledAt !== null && `, ${words.since(show.dateTime(disabledAt))}`}
        </Text>
      </>
    );
  }
  if (failing === null) return <State tone="good">{words.states.enabled}</State>;
  return (
    <>
      <State tone="warn">{words.states.failing}</State>
      <Text size="sm" c="dimmed">
        {words.since(show.dateTime(failing))}
      </Text>
    </>
  );
}

function Actions({ endpoint }: { readonly endpoint: OperatorWebhook }) {
  const { id, url, enabled } = endpoint;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<'rotate' | 'remove' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['webhooks'] });
  const toggle = useMutation({
    mutationFn: () => ask('POST', `/webhooks/${id}/${enabled ? 'disable' : 'enable'}`),
    onSuccess: refresh,
  });
  const test = useMutation({
    mutationFn: () => ask<OperatorDelivery>('POST', `/webhooks/${id}/test`),
    onSuccess: (delivery) => navigate(`/deliveries/${delivery.id}`),
  });
  const rotate = async () => {
    const rotated = await ask<WebhookWithSecret>('POST', `/webhooks/${id}/rotate_secret`);
    await refresh();
    setSecret(rotated.secret);
  };
  const remove = async () => {
    await ask('POST', `/webhooks/${id}/remove`);
    await refresh();
  };
  const error = toggle.error ?? test.error;
  return (
    <Stack gap="xs" align="flex-start">
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" aria-label={words.actionsOf(url)}>
            {text.common.actions}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {enabled && <Menu.Item onClick={() => test.mutate()}>{words.commands.test}</Menu.Item>}
          <Menu.Item onClick={() => setAsking('rotate')}>{words.commands.rotate}</Menu.Item>
          <Menu.Item onClick={() => toggle.mutate()}>
            {enabled ? words.commands.disable : words.commands.enable}
          </Menu.Item>
          <Menu.Item onClick={() => setAsking('remove')}>{words.commands.remove}</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {error !== null && <Failure error={error} />}
      {asking === 'rotate' && (
        <Confirm
          title={words.rotateTitle}
          about={words.rotateText}
          submit={words.rotate}
          onConfirm={rotate}
          onClose={() => setAsking(null)}
        />
      )}
      {asking === 'remove' && (
        <Confirm
          title={words.removeTitle}
          about={words.removeText}
          submit={text.common.remove}
          onConfirm={remove}
          onClose={() => setAsking(null)}
        />
      )}
      {secret !== null && <ShownSecret secret={secret} onClose={() => setSecret(null)} />}
    </Stack>
  );
}

/** The one time that a secret is shown. */
function ShownSecret({ secret, onClose }: { readonly secret: string; readonly onClose: () => void }) {
  return (
    <Dialog title={words.secretTitle} onClose={onClose}>
      <Secret about={words.secret} value={secret} />
    </Dialog>
  );
}
