import {
  directions,
  type Direction,
  type OperatorEvent,
  type OperatorRun,
  type OperatorRunDetail,
  type OperatorTurn,
  type RunProgress,
} from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { totalText } from './usage.ts';
import { clockTime, fields, minutes, printable, section, shortTime, table } from '../report.ts';

export function runCommands(group: Command, { connect, report }: Context): void {
  group
    .command('list')
    .description('list the newest Runs')
    .option('--goal <goal_id>', 'only those of one Goal')
    .addOption(new Option('--direction <direction>', 'only those').choices(directions))
    .action(async (query: { goal?: string; direction?: Direction }) => {
      const client = await connect();
      const page = await client.listRuns(query);
      report.print(page, ({ data }) => runTable(data));
    });

  group
    .command('show')
    .description('show a Run with its attempts, transcript, events and evidence')
    .argument('<run>', 'Goal Run id or run_id')
    .action(async (run: string) => {
      const client = await connect();
      report.print(await client.getRun(run), runDetail);
    });

  group
    .command('watch')
    .description('follow a Run until it has a result or an error')
    .argument('<run>', 'Goal Run id or run_id')
    .action(async (run: string) => {
      const client = await connect();
      for await (const progress of client.watchRun(run)) {
        for (const line of progressLines(progress)) report.line(line);
      }
      report.print(await client.getRun(run), (detail) => runFields(detail));
    });

  group
    .command('cancel')
    .description('stop a Run that has not ended; a live call is hung up')
    .argument('<run>', 'Goal Run id or run_id')
    .action(async (run: string) => {
      const client = await connect();
      report.print(await client.cancelRun(run), runFields);
    });
}

function outcome({ result, error, status }: OperatorRun): string {
  if (error !== null) return error.detail_code === null ? error.code : `${error.code} (${error.detail_code})`;
  if (result !== null) return JSON.stringify(result);
  return status === 'completed' ? 'result is being drawn' : 'not ended';
}

function duration({ created_at, completed_at }: OperatorRun): string {
  return completed_at === null ? '' : minutes((Date.parse(completed_at) - Date.parse(created_at)) / 1_000);
}

function runTable(runs: readonly OperatorRun[]): string {
  const rows = runs.map((run) => [
    run.id,
    run.status,
    run.direction,
    run.phone ?? 'anonymous',
    shortTime(run.created_at),
    duration(run),
    shorten(outcome(run), 60),
  ]);
  return table(['ID', 'STATUS', 'DIRECTION', 'PHONE', 'CREATED', 'TOOK', 'OUTCOME'], rows);
}

const shorten = (text: string, length: number) =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;

function runFields(run: OperatorRun): string {
  return fields({
    id: run.id,
    run_id: run.run_id,
    goal: run.goal_id,
    version: run.run_spec.version,
    direction: run.direction,
    phone: run.phone ?? 'anonymous',
    status: run.status,
    outcome: outcome(run),
    created: shortTime(run.created_at),
    took: duration(run) || null,
    'cancel requested': run.cancel_requested_at === null ? null : shortTime(run.cancel_requested_at),
  });
}

function runDetail(run: OperatorRunDetail): string {
  const attempts = run.attempts.map((attempt) => [
    String(attempt.number),
    attempt.id,
    attempt.carrier,
    attempt.state,
    attempt.outcome ?? '',
    attempt.answered_by ?? '',
    attempt.ended_by ?? '',
    clockTime(attempt.dialed_at),
    attempt.ended_at === null ? '' : clockTime(attempt.ended_at),
  ]);
  const evidence = Object.entries(run.evidence).map(([field, { value, turns, quote }]) => [
    field,
    String(value),
    turns.join(', '),
    quote,
  ]);
  const variables = Object.entries(run.variables).map(([name, value]) => [name, String(value)]);
  return [
    runFields(run),
    ...(run.cost === null ? [] : [`cost (preview, not charged): ${totalText(run.cost)}`]),
    section('Variables', table(['NAME', 'VALUE'], variables)),
    section(
      'Attempts',
      table(
        ['NO', 'ID', 'CARRIER', 'STATE', 'OUTCOME', 'ANSWERED BY', 'ENDED BY', 'DIALED', 'ENDED'],
        attempts,
      ),
    ),
    section('Transcript', run.transcript.map(turnLine).join('\n') || 'none'),
    section('Evidence', table(['FIELD', 'VALUE', 'TURNS', 'QUOTE'], evidence)),
    section('Events', run.events.map(eventLine).join('\n')),
  ].join('\n\n');
}

/** Events in their order, with what was said in the place of the event that reports it. */
function progressLines({ events, turns }: RunProgress): string[] {
  const unsaid = new Map(turns.map((turn) => [turn.index, turn]));
  const lines = events.flatMap((event) => {
    const index = event.details['turn'];
    if (typeof index !== 'number') return [eventLine(event)];
    const turn = unsaid.get(index);
    unsaid.delete(index);
    return turn === undefined ? [] : [turnLine(turn)];
  });
  return [...lines, ...Array.from(unsaid.values(), turnLine)];
}

const speakers = { bot: 'we', user: 'callee', unknown: '?' } as const;

function turnLine({ offset_seconds, speaker, text, interrupted, latency }: OperatorTurn): string {
  const cut = interrupted ? ' —' : '';
  const wait = latency === null ? '' : `  (after ${(latency.total_ms / 1_000).toFixed(1)} s)`;
  return `${minutes(offset_seconds).padStart(5)}  ${speakers[speaker].padEnd(6)}  ${printable(text)}${cut}${wait}`;
}

function eventLine({ created_at, type, details }: OperatorEvent): string {
  const shown = Object.entries(details).map(([name, value]) => `${name}=${plain(value)}`);
  return printable(`${clockTime(created_at)}  ${type.padEnd(20)}  ${shown.join(' ')}`).trimEnd();
}

const plain = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
