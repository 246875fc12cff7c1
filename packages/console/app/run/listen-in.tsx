import { Button, Group, Stack, Text } from '@mantine/core';
import type { ConsoleRunDetail } from '@trunkcall/contract';
import { ApiError } from '../api.ts';
import { Failure } from '../parts/page.tsx';
import { Part } from '../parts/section.tsx';
import { useMay } from '../session.tsx';
import { text } from '../text.ts';
import { useListening, type ListeningControl, type ListeningState } from './use-listening.ts';

const { listening: words } = text.run;

/** Lets who may hear a live call, or says why it can not be heard. */
export function ListenIn({ run }: { readonly run: ConsoleRunDetail }) {
  const mayListen = useMay('call.listen', run.account_id);
  const control = useListening(run.id);
  const { state } = control;
  const isOver = run.listening === 'over';
  // How it ended stays to be read.
  if (isOver && state.kind === 'idle') return null;
  return (
    <Part title={words.title}>
      {mayListen ? (
        <Stack gap="xs">
          {state.kind === 'on' && <Loudspeaker control={control} />}
          {state.kind !== 'on' && !isOver && <Start run={run} control={control} />}
          <div role="status">
            <How state={state} />
          </div>
        </Stack>
      ) : (
        <Text c="dimmed">{words.mayNot}</Text>
      )}
    </Part>
  );
}

function Start({ run, control }: { readonly run: ConsoleRunDetail; readonly control: ListeningControl }) {
  const { state, start } = control;
  const isOpen = run.listening === 'open';
  return (
    <Group gap="md">
      <Button disabled={!isOpen} loading={state.kind === 'starting'} onClick={start}>
        {state.kind === 'starting' ? words.starting : words.start}
      </Button>
      <Text size="sm" c="dimmed">
        {isOpen ? words.noted : words.reasons[run.listening]}
      </Text>
    </Group>
  );
}

function Loudspeaker({ control }: { readonly control: ListeningControl }) {
  const { volume, setVolume, stop } = control;
  return (
    <Group gap="md">
      <Button variant="default" onClick={stop}>
        {words.stop}
      </Button>
      <label className="volume">
        {words.volume}
        <input
          type="range"
          className="position"
          min={0}
          max={100}
          step={5}
          value={Math.round(volume * 100)}
          onChange={(event) => setVolume(Number(event.currentTarget.value) / 100)}
        />
      </label>
    </Group>
  );
}

/** What has become of it; read out when it changes. */
function How({ state }: { readonly state: ListeningState }) {
  if (state.kind === 'on') return <Text size="sm">{words.on}</Text>;
  if (state.kind === 'ended') return <Text size="sm">{words.ended[state.reason]}</Text>;
  if (state.kind !== 'refused') return null;
  const why = reasonOf(state.error);
  return why === null ? <Failure error={state.error} /> : <Text size="sm">{why}</Text>;
}

/** Why the server refused, where it knows a reason; null otherwise. */
function reasonOf(error: unknown): string | null {
  if (!(error instanceof ApiError)) return null;
  const { listening, worker } = error.details;
  const reasons: Readonly<Record<string, string>> = words.reasons;
  const reason = typeof listening === 'string' ? reasons[listening] : undefined;
  if (reason === undefined) return null;
  return typeof worker === 'string' ? `${reason} ${words.elsewhere(worker)}` : reason;
}
