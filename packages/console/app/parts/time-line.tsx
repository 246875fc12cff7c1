import { Anchor, Button, Text } from '@mantine/core';
import type {
  ConsoleRunDetail,
  OperatorEvent,
  OperatorNote,
  OperatorTurn,
  TurnLatency,
} from '@trunkcall/contract';
import { Link } from 'react-router';
import { show, text } from '../text.ts';
import { shownValue } from './section.tsx';
import { useTarget } from './target.ts';

const { run: words } = text;

/** The address of a turn of the selected attempt on its page; people count from 1. */
export const turnAddress = (index: number): string => `turn-${index + 1}`;

/**
 * Events in their order; one that reports a turn is shown as the turn. Events count from the acceptance, turns from the
 * answer: a simulated call has a clock of its own.
 */
export function TimeLine({
  run,
  playing,
  onPlay,
}: {
  readonly run: ConsoleRunDetail;
  /** The turn that is being heard from the recording; null when none is. */
  readonly playing: number | null;
  /** Plays the recording from a place, seconds since the answer; absent when there is nothing to hear. */
  readonly onPlay: ((seconds: number) => void) | undefined;
}) {
  const target = useTarget();
  const turns = turnsByEvent(run);
  const startMs = Date.parse(run.created_at);
  return (
    <ol className="timeline">
      {run.events.map((event) => {
        const turn = turns.get(event.id);
        if (turn === undefined) return <Fact key={event.id} event={event} startMs={startMs} />;
        return (
          <Turn
            key={event.id}
            turn={turn}
            speaker={speakerOf(turn, run)}
            isMarked={turn.isSelected && turnAddress(turn.index) === target}
            isPlaying={turn.isSelected && turn.index === playing}
            onPlay={turn.isSelected ? onPlay : undefined}
          />
        );
      })}
    </ol>
  );
}

function Fact({ event, startMs }: { readonly event: OperatorEvent; readonly startMs: number }) {
  const { type, details, created_at } = event;
  const outcome = details['outcome'];
  return (
    <li>
      <time dateTime={created_at}>
        +{show.decimal(Math.max(0, Date.parse(created_at) - startMs) / 1_000)} s
      </time>
      <Text size="sm" c="dimmed" className="break" title={type}>
        {text.events[type] ?? type}
        {typeof outcome === 'string' && `: ${text.endings.outcomes[outcome] ?? outcome}`}
      </Text>
    </li>
  );
}

interface ShownTurn extends OperatorTurn {
  /** Of the attempt that the result was drawn from. */
  readonly isSelected: boolean;
}

function speakerOf({ speaker }: OperatorTurn, { direction }: ConsoleRunDetail): string {
  return speaker === 'user' && direction === 'inbound' ? words.caller : words.speakers[speaker];
}

function Turn({
  turn,
  speaker,
  isMarked,
  isPlaying,
  onPlay,
}: {
  readonly turn: ShownTurn;
  /** In words. */
  readonly speaker: string;
  readonly isMarked: boolean;
  readonly isPlaying: boolean;
  readonly onPlay: ((seconds: number) => void) | undefined;
}) {
  const { isSelected, index, offset_seconds: offset, interrupted, notes, latency } = turn;
  const at = show.clock(offset);
  return (
    <li
      id={isSelected ? turnAddress(index) : undefined}
      tabIndex={isSelected ? -1 : undefined}
      className={isMarked ? 'marked' : undefined}
      aria-current={isPlaying ? 'true' : undefined}
    >
      {onPlay === undefined ? (
        <span className="offset" title={words.sinceAnswer}>
          {at}
        </span>
      ) : (
        <Button
          size="compact-sm"
          variant="subtle"
          className="offset"
          aria-label={words.playFrom(at)}
          onClick={() => onPlay(offset)}
        >
          {`▸ ${at}`}
        </Button>
      )}
      <div className={`turn ${turn.speaker}`}>
        <Text size="sm" fw={600}>
          {speaker}
          {interrupted && ` · ${words.interrupted}`}
          {isSelected && (
            <Anchor
              component={Link}
              to={{ hash: turnAddress(index) }}
              replace
              className="turn-link"
              aria-label={words.linkTurn(index)}
            >
              #{index + 1}
            </Anchor>
          )}
        </Text>
        {turn.text}
        {notes.map((note) => (
          <Text key={noteText(note)} size="sm" className="note">
            {noteText(note)}
          </Text>
        ))}
        {latency !== null && <Wait latency={latency} />}
      </div>
    </li>
  );
}

function noteText(note: OperatorNote): string {
  if (note.kind === 'opted_out') return words.optedOut;
  if (note.kind === 'transferred') return words.transferred(note.to);
  return note.kind === 'answer'
    ? words.understood(note.field, shownValue(note.value))
    : words.notUnderstood(note.field);
}

const parts = ['endpointing_ms', 'model_ms', 'speech_ms', 'transport_ms'] as const;

/** How long the callee waited for a turn, and for what. */
function Wait({ latency }: { readonly latency: TurnLatency }) {
  const split = parts.flatMap((part) => {
    const ms = latency[part];
    return ms === null ? [] : [`${words.waits[part]} ${show.hundredths(ms / 1_000)}`];
  });
  return (
    <Text size="xs" c="dimmed" className="break">
      {[words.answeredAfter(show.hundredths(latency.total_ms / 1_000)), ...split].join(' · ')}
    </Text>
  );
}

/** The turn that each event reports, by the event's id. */
function turnsByEvent({ events, transcript, attempts, call_id }: ConsoleRunDetail): Map<string, ShownTurn> {
  const numbers = new Map(attempts.map(({ id, number }) => [id, number]));
  const place = (attempt: number | undefined, index: unknown) => `${attempt}.${String(index)}`;
  const turns = new Map(transcript.map((turn) => [place(turn.attempt, turn.index), turn]));
  return new Map(
    events.flatMap(({ id, details }): [string, ShownTurn][] => {
      const attemptId = String(details['attempt_id']);
      const turn = turns.get(place(numbers.get(attemptId), details['turn']));
      return turn === undefined ? [] : [[id, { ...turn, isSelected: attemptId === call_id }]];
    }),
  );
}
