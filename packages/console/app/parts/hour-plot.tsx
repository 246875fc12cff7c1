import { Group } from '@mantine/core';
import type { ConsoleOverview } from '@trunkcall/contract';
import { show, text } from '../text.ts';
import { State } from './page.tsx';

const width = 480;
const height = 120;
const baseline = 100;

/** Runs per hour as bars; the same numbers stand in the label of each bar. */
export function HourPlot({ hours }: { readonly hours: ConsoleOverview['hours'] }) {
  const most = Math.max(1, ...hours.map(({ results, others }) => results + others));
  const step = width / hours.length;
  const tall = (count: number) => (count / most) * (baseline - 14);
  return (
    <figure aria-label={text.overview.perHour}>
      <svg className="plot" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
        <title>{text.overview.perHour}</title>
        {hours.map(({ from, results, others }, index) => (
          <g key={from}>
            <title>{`${show.hour(from)}: ${results} ${text.overview.withResult}, ${others} ${text.overview.others}`}</title>
            <rect
              className="good"
              x={index * step + 1}
              width={step - 2}
              y={baseline - tall(results)}
              height={tall(results)}
            />
            <rect
              className="other"
              x={index * step + 1}
              width={step - 2}
              y={baseline - tall(results + others)}
              height={tall(others)}
            />
          </g>
        ))}
        <rect className="other" x={0} y={baseline} width={width} height={1} />
      </svg>
      <figcaption>
        <Group justify="space-between" wrap="nowrap" fz="sm">
          <span>{show.hour(hours[0]?.from)}</span>
          <span>{show.hour(hours.at(-1)?.from)}</span>
        </Group>
        <Group gap="md" justify="center" fz="sm">
          <State tone="good">{text.overview.withResult}</State>
          <State tone="quiet">{text.overview.others}</State>
        </Group>
      </figcaption>
    </figure>
  );
}
