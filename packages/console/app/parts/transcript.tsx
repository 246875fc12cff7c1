import { Text } from '@mantine/core';
import type { TranscriptTurn } from '@trunkcall/contract';
import { show, text } from '../text.ts';
import { useTarget } from './target.ts';

/** What was said in one attempt of a call. `name` makes the turns' addresses on the page. */
export function Transcript({
  name,
  turns,
}: {
  readonly name: string;
  readonly turns: readonly TranscriptTurn[];
}) {
  const target = useTarget();
  if (turns.length === 0) return <Text c="dimmed">{text.call.silent}</Text>;
  return (
    <ol className="timeline">
      {turns.map(({ offset_seconds: offset, speaker, text: said }, index) => {
        // Turns are only ever added behind the others, so their place is who they are.
        const id = `${name}-${index + 1}`;
        return (
          <li key={id} id={id} tabIndex={-1} className={id === target ? 'marked' : undefined}>
            <span className="offset">{offset === null ? '–' : show.clock(offset)}</span>
            <div className={`turn ${speaker}`}>
              <Text size="sm" fw={600}>
                {text.run.speakers[speaker]}
              </Text>
              {said}
            </div>
          </li>
        );
      })}
    </ol>
  );
}
