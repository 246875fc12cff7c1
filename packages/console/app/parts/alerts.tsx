import { Alert, Anchor, Stack, Text } from '@mantine/core';
import type { Alert as AlertOf } from '@trunkcall/contract';
import { Link, useLocation } from 'react-router';
import { usePlace } from '../session.tsx';
import { text } from '../text.ts';

const { overview } = text;

/** Where an operator looks closer. */
const places: Readonly<Partial<Record<AlertOf['kind'], readonly [to: string, label: string]>>> = {
  no_worker: ['/system', overview.toSystem],
  worker_silent: ['/system', overview.toSystem],
  provider_failing: ['/system', overview.toSystem],
  queue_late: ['/system', overview.toSystem],
  trunk_down: ['/trunks', overview.toTrunks],
};

/** What wants attention, and what to do. */
export function Alerts({ alerts }: { readonly alerts: readonly AlertOf[] }) {
  const { session } = usePlace();
  const { pathname } = useLocation();
  if (alerts.length === 0) return null;
  return (
    <Alert color="red" variant="outline" title={overview.alerts}>
      <Stack gap="sm">
        {alerts.map(({ kind, message, hint, goal_id }) => {
          const place =
            goal_id === null
              ? session.person.operator && places[kind]
              : ([`/goals/${goal_id}`, overview.open] as const);
          const leads = place && place[0] !== pathname;
          return (
            <div key={`${kind} ${message}`}>
              <Text size="sm" fw={600} className="break">
                {message}
              </Text>
              <Text size="sm" className="break">
                {hint}{' '}
                {leads && (
                  <Anchor component={Link} to={place[0]} underline="always">
                    {place[1]}
                  </Anchor>
                )}
              </Text>
            </div>
          );
        })}
      </Stack>
    </Alert>
  );
}
