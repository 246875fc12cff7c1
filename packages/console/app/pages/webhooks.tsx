import { Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import type { OperatorDelivery, OperatorList, OperatorWebhook } from '@trunkcall/contract';
import { query, read } from '../api.ts';
import { DeliveryTable } from '../parts/delivery-table.tsx';
import { Choice, useFilters } from '../parts/filters.tsx';
import { Empty, Loaded, Page } from '../parts/page.tsx';
import { usePages } from '../parts/pages.ts';
import { Command, Part } from '../parts/section.tsx';
import { curlOf } from '../parts/shell-command.ts';
import { useAccount, useMay, usePlace } from '../session.tsx';
import { text } from '../text.ts';
import { CreateEndpoint } from '../webhooks/create-endpoint.tsx';
import { EndpointTable } from '../webhooks/endpoint-table.tsx';

const { webhooks: words } = text;

export default function Webhooks() {
  const { id } = useAccount();
  const mayManage = useMay('webhook.manage');
  const [creating, { open, close }] = useDisclosure();
  const endpoints = useQuery({
    queryKey: ['webhooks', id],
    queryFn: () => read<OperatorList<OperatorWebhook>>(`/accounts/${id}/webhooks?limit=100`),
  });
  return (
    <Page
      title={words.title}
      about={words.about}
      actions={mayManage && <Button onClick={open}>{words.create}</Button>}
    >
      <Text size="sm" c="dimmed" maw={760}>
        {words.explained}
      </Text>
      <Part title={words.endpoints}>
        <Loaded query={endpoints}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty title={words.empty} hint={words.emptyHint} />
            ) : (
              <EndpointTable endpoints={data} />
            )
          }
        </Loaded>
      </Part>
      <Part title={words.deliveries}>
        <Deliveries endpoints={endpoints.data?.data ?? []} />
      </Part>
      {mayManage && (
        <Part title={words.curl}>
          <Curl />
        </Part>
      )}
      {creating && <CreateEndpoint onClose={close} />}
    </Page>
  );
}

function Deliveries({ endpoints }: { readonly endpoints: readonly OperatorWebhook[] }) {
  const { id } = useAccount();
  const chosen = useFilters<'webhook' | 'state'>();
  const asked = { webhook: chosen.value('webhook'), state: chosen.value('state') };
  const deliveries = usePages<OperatorDelivery>(
    ['deliveries', id, asked],
    (after) => `/accounts/${id}/webhook_deliveries${query({ ...asked, after })}`,
  );
  const filtered = asked.webhook !== '' || asked.state !== '';
  return (
    <Stack>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <Choice
          filters={chosen}
          name="webhook"
          label={words.endpoint}
          options={endpoints.map((endpoint) => [endpoint.id, endpoint.url])}
        />
        <Choice
          filters={chosen}
          name="state"
          label={words.state}
          options={Object.entries(words.deliveryStates)}
        />
      </SimpleGrid>
      <Loaded query={deliveries}>
        {(list) =>
          list.length === 0 ? (
            <Empty title={filtered ? words.noMatch : words.deliveriesEmpty} />
          ) : (
            <DeliveryTable deliveries={list} label={words.deliveries} />
          )
        }
      </Loaded>
      {deliveries.hasMore && (
        <Group>
          <Button variant="default" loading={deliveries.loadingMore} onClick={deliveries.more}>
            {text.common.more}
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function Curl() {
  const { session, account } = usePlace();
  const command = curlOf({
    url: `${session.base_url ?? window.location.origin}/operator/v1/webhooks`,
    keyVariable: 'TRUNKCALL_OPERATOR_TOKEN',
    json: { account: account?.id, url: 'https://URL', signed: true },
  });
  return <Command label={words.curl} hint={words.curlHint} command={command} />;
}
