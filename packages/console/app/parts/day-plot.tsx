import { Group } from '@mantine/core';
import type { UsageDay } from '@trunkcall/contract';
import { show, text } from '../text.ts';
import { State } from './page.tsx';

const width = 480;
const height = 120;
const baseline = 100;
const dayMs = 86_400_000;

/** Cost per day as bars, for the eye: the table of days has the same numbers, and only that one is exact. */
export function DayPlot({
  from,
  to,
  days,
}: {
  readonly from: string;
  readonly to: string;
  readonly days: readonly UsageDay[];
}) {
  const first = Date.parse(from);
  const count = Math.round((Date.parse(to) - first) / dayMs) + 1;
  const most = Math.max(...days.map(({ total }) => Number(total)), Number.MIN_VALUE);
  const step = width / count;
  const gap = Math.min(1, step / 8);
  const tall = (amount: string) => (Number(amount) / most) * (baseline - 14);
  return (
    <figure aria-label={text.usage.perDay}>
      <svg className="plot" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
        <title>{text.usage.perDay}</title>
        {days.map(({ day, model, carrier, total }) => {
          const bar = { x: ((Date.parse(day) - first) / dayMs) * step + gap, width: step - 2 * gap };
          return (
            <g key={day}>
              <title>{`${show.day(day)}: ${show.money(total)}`}</title>
              <rect className="good" {...bar} y={baseline - tall(model)} height={tall(model)} />
              <rect className="other" {...bar} y={baseline - tall(total)} height={tall(carrier)} />
            </g>
          );
        })}
        <rect className="other" x={0} y={baseline} width={width} height={1} />
      </svg>
      <figcaption>
        <Group justify="space-between" wrap="nowrap" fz="sm">
          <span>{show.day(from)}</span>
          <span>{show.day(to)}</span>
        </Group>
        <Group gap="md" justify="center" fz="sm">
          <State tone="good">{text.usage.model}</State>
          <State tone="quiet">{text.usage.carrier}</State>
        </Group>
      </figcaption>
    </figure>
  );
}
