import { Anchor, Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConsoleRunDetail } from '@trunkcall/contract';
import { useCallback, useRef, useState } from 'react';
import { Link, useParams } from 'react-router';
import { ask, read } from '../api.ts';
import { Confirm } from '../parts/confirm.tsx';
import { Deliveries } from '../parts/delivery-table.tsx';
import { Loaded, Page, State } from '../parts/page.tsx';
import { isDrawing, RunOutcome } from '../parts/run-state.tsx';
import { Command, Part, shownValue, Values } from '../parts/section.tsx';
import { curlOf } from '../parts/shell-command.ts';
import { useScrollToTarget } from '../parts/target.ts';
import { TimeLine } from '../parts/time-line.tsx';
import { Downloads } from '../run/downloads.tsx';
import { ListenIn } from '../run/listen-in.tsx';
import { Ending } from '../run/ending.tsx';
import { Recording, type PlayerControl } from '../run/recording.tsx';
import { Result } from '../run/result.tsx';
import { useAccountOf, useMay, usePlace } from '../session.tsx';
import { show, text } from '../text.ts';

const { run: words } = text;

export default function Run() {
  const { run: id = '' } = useParams();
  const query = useQuery({
    queryKey: ['run', id],
    queryFn: () => read<ConsoleRunDetail>(`/runs/${id}`),
    // No event tells that its cost was counted, a few seconds after its end.
    refetchInterval: ({ state }) => (state.data !== undefined && isCounting(state.data) ? 5_000 : false),
  });
  return <Loaded query={query}>{(run) => <RunPage run={run} />}</Loaded>;
}

const isOver = ({ completed_at: ended }: ConsoleRunDetail) => ended !== null;

function RunPage({ run }: { readonly run: ConsoleRunDetail }) {
  useAccountOf(run.account_id);
  useScrollToTarget();
  const player = useRef<PlayerControl>(null);
  const [playing, setPlaying] = useState<number | null>(null);
  const [playable, setPlayable] = useState(false);
  const onReady = useCallback(() => setPlayable(true), []);
  const { transcript, attempts, call_id } = run;
  const onTime = useCallback(
    (seconds: number | null) => {
      const selected = attempts.find(({ id }) => id === call_id)?.number;
      const begun = transcript.findLast(
        ({ attempt, offset_seconds: offset }) =>
          attempt === selected && seconds !== null && offset <= seconds,
      );
      setPlaying(begun?.index ?? null);
    },
    [transcript, attempts, call_id],
  );
  return (
    <Page
      title={run.title}
      actions={
        <>
          <Downloads run={run} />
          <Stop run={run} />
        </>
      }
    >
      <Group gap="lg">
        <RunOutcome status={run.status} error={run.error?.code ?? null} drawing={isDrawing(run)} />
        {!isOver(run) && (
          <Text span title={words.liveHint}>
            <State tone="busy">{words.live}</State>
          </Text>
        )}
        <Anchor component={Link} to={`/goals/${run.goal_id}`} underline="always">
          v{run.run_spec.version}
        </Anchor>
        <span>{run.phone ?? text.runs.anonymous}</span>
        <span>{text.runs.directions[run.direction]}</span>
        <time dateTime={run.created_at}>{show.dateTime(run.created_at)}</time>
      </Group>
      <ListenIn run={run} />
      {run.recording !== null && (
        <Part title={words.recording.title}>
          <Recording run={run} control={player} onReady={onReady} onTime={onTime} />
        </Part>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Part title={words.timeline}>
          <TimeLine
            run={run}
            playing={playing}
            onPlay={playable ? (seconds) => player.current?.playFrom(seconds) : undefined}
          />
        </Part>
        <Stack>
          <Part title={words.result}>
            <Result run={run} />
          </Part>
          <Part title={words.why}>
            <Ending run={run} />
            <Cost cost={run.cost} />
          </Part>
          <Part title={words.variables}>
            <Values
              values={Object.fromEntries(
                Object.entries(run.variables).map(([name, value]) => [name, shownValue(value)]),
              )}
              empty={words.noVariables}
            />
          </Part>
          {run.direction === 'outbound' ? (
            <Part title={words.curl}>
              <Curl run={run} />
            </Part>
          ) : (
            <Deliveries of={run.deliveries} />
          )}
          <Part title={words.ids}>
            <Values values={idsOf(run)} />
          </Part>
        </Stack>
      </SimpleGrid>
    </Page>
  );
}

const isCounting = ({ completed_at, attempts, cost }: ConsoleRunDetail): boolean =>
  cost === null &&
  attempts.length > 0 &&
  completed_at !== null &&
  Date.now() - Date.parse(completed_at) < 120_000;

function Cost({ cost }: { readonly cost: ConsoleRunDetail['cost'] }) {
  if (cost === null) return null;
  const total = show.money(cost.total);
  return (
    <Text size="sm" mt="sm">
      {words.cost(cost.carrier_unknown === 0 ? total : text.usage.atLeast(total))}
    </Text>
  );
}

function Stop({ run }: { readonly run: ConsoleRunDetail }) {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const mayStop = useMay('run.cancel', run.account_id);
  if (!mayStop || isOver(run)) return null;
  const stopping = run.cancel_requested_at !== null;
  const stop = async () => {
    try {
      await ask('POST', `/runs/${run.id}/cancel`);
    } finally {
      await client.invalidateQueries({ queryKey: ['run', run.id] });
    }
  };
  return (
    <>
      <Button color="red" disabled={stopping} onClick={() => setAsking(true)}>
        {stopping ? words.stopping : words.stop}
      </Button>
      {asking && (
        <Confirm
          title={words.stopTitle}
          about={words.stopText}
          submit={words.stop}
          onConfirm={stop}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

const idsOf = ({ id, run_id, call_id, goal_id }: ConsoleRunDetail) => ({
  id: <Code>{id}</Code>,
  run_id: <Code>{run_id}</Code>,
  call_id: call_id === null ? '–' : <Code>{call_id}</Code>,
  goal_id: <Code>{goal_id}</Code>,
});

function Curl({ run }: { readonly run: ConsoleRunDetail }) {
  const { session } = usePlace();
  const base = session.base_url ?? window.location.origin;
  const url = `${base}/v1/goals/${run.goal_id}/runs`;
  const keyVariable = 'TRUNKCALL_API_KEY';
  const json = { phone: '+PHONE', variables: run.variables };
  return (
    <Stack>
      <Command
        label={words.curl}
        hint={words.curlHint}
        command={curlOf({ url, keyVariable, idempotent: true, json })}
      />
      <Command
        label={words.curlPoll}
        hint={words.curlPoll}
        command={curlOf({ url: `${url}/${run.id}`, keyVariable })}
      />
    </Stack>
  );
}
