import { Text } from '@mantine/core';
import type { GoalFileProblem } from '@trunkcall/contract';
import { createContext, useContext, useEffect, useId, useState } from 'react';
import { CodeEditor } from '../parts/code-editor.tsx';
import { text } from '../text.ts';
import type { DraftState } from './use-draft.ts';

const pretty = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2));

/** Told by every editor of JSON whether its text is none. */
export const TextNotes = createContext<DraftState['noteText']>(() => {});

/** JSON as text. While it is none, it stays on the screen and goes no further. */
export function JsonEditor({
  label,
  value,
  onChange,
  problems,
  minLines,
}: {
  readonly label: string;
  readonly value: unknown;
  /** `undefined` for an empty text. */
  readonly onChange: ((value: unknown) => void) | undefined;
  readonly problems: readonly GoalFileProblem[];
  readonly minLines?: number;
}) {
  const [typed, setTyped] = useState(() => pretty(value));
  const [broken, setBroken] = useState(false);
  const place = useId();
  const noteText = useContext(TextNotes);

  useEffect(() => {
    noteText(place, broken);
    return () => noteText(place, false);
  }, [noteText, place, broken]);

  // Taken over from outside, unless it is what was typed, only written otherwise.
  useEffect(() => {
    setTyped((now) => (same(now, value) || broken ? now : pretty(value)));
  }, [value, broken]);

  const type = (next: string) => {
    setTyped(next);
    const parsed = parse(next);
    setBroken(parsed === null);
    if (parsed !== null && !same(next, value)) onChange?.(parsed.value);
  };
  return (
    <>
      <CodeEditor
        label={label}
        language="json"
        value={typed}
        problems={broken ? [] : problems}
        {...(minLines === undefined ? {} : { minLines })}
        {...(onChange === undefined ? {} : { onChange: type })}
      />
      {broken && (
        <Text size="sm" c="var(--mantine-color-error)" role="status">
          {text.goal.about.notJson}
        </Text>
      )}
    </>
  );
}

/** Null when it is not JSON. */
function parse(typed: string): { readonly value: unknown } | null {
  if (typed.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(typed) as unknown };
  } catch {
    return null;
  }
}

function same(typed: string, value: unknown): boolean {
  const parsed = parse(typed);
  return parsed !== null && JSON.stringify(parsed.value) === JSON.stringify(value);
}
