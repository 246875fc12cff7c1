import { Text } from '@mantine/core';
import type { ConsoleRunDetail, OperatorTurn } from '@trunkcall/contract';
import { show, text } from '../text.ts';

/**
 * Events in their order; one that reports a turn is shown as the turn. Events count from the acceptance, turns from the
 * answer: a simulated call has a clock of its own. `marked` are turns of the selected attempt.
 */
export function TimeLine({
  run,
  marked,
}: {
  readonly run: ConsoleRunDetail;
  readonly marked: readonly number[];
}) {
  const turns = turnsByEvent(run);
  const startMs = Date.parse(run.created_at);
  return (
    <ol className="timeline">
      {run.events.map((event) => {
        const turn = turns.get(event.id);
        if (turn !== undefined) {
          return (
            <Turn key={event.id} turn={turn} isMarked={turn.isSelected && marked.includes(turn.index)} />
          );
        }
        const seconds = (Date.parse(event.created_at) - startMs) / 1_000;
        return (
          <li key={event.id}>
            <time dateTime={event.created_at}>+{show.decimal(seconds)} s</time>
            <Text size="sm" c="dimmed" className="break">
              {event.type}
            </Text>
          </li>
        );
      })}
    </ol>
  );
}

interface ShownTurn extends OperatorTurn {
  /** Of the attempt that the result was drawn from. */
  readonly isSelected: boolean;
}

function Turn({ turn, isMarked }: { readonly turn: ShownTurn; readonly isMarked: boolean }) {
  const { isSelected, index, offset_seconds, speaker, interrupted } = turn;
  return (
    <li
      id={isSelected ? `turn-${index}` : undefined}
      tabIndex={isSelected ? -1 : undefined}
      className={isMarked ? 'marked' : undefined}
    >
      <time title={text.run.sinceAnswer}>{show.clock(offset_seconds)}</time>
      <div className={`turn ${speaker}`}>
        <Text size="sm" fw={600}>
          {text.run.speakers[speaker]}
          {interrupted && ` · ${text.run.interrupted}`}
        </Text>
        {turn.text}
      </div>
    </li>
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
