import { Text } from '@mantine/core';
import type { GoalFileProblem } from '@trunkcall/contract';
import { lazy, Suspense } from 'react';
import { Loading } from './page.tsx';

export interface CodeEditorProps {
  readonly label: string;
  readonly value: string;
  readonly onChange?: (value: string) => void;
  readonly language: 'json' | 'text';
  /** Names that `{{` offers. */
  readonly variables?: readonly string[];
  /** Pointers count from the root of the text. */
  readonly problems?: readonly GoalFileProblem[];
  readonly minLines?: number;
}

const Inner = lazy(() => import('./code-mirror.tsx'));

/** A field for code, with its problems below it too, for those who do not see the marks in the text. */
export function CodeEditor(props: CodeEditorProps) {
  const { problems = [] } = props;
  return (
    <div>
      <div className={problems.length > 0 ? 'editor wrong' : 'editor'}>
        <Suspense fallback={<Loading />}>
          <Inner {...props} />
        </Suspense>
      </div>
      <Problems problems={problems} />
    </div>
  );
}

export function Problems({ problems }: { readonly problems: readonly GoalFileProblem[] }) {
  return problems.map(({ pointer, message }) => (
    <Text key={`${pointer} ${message}`} size="sm" c="var(--mantine-color-error)" mt={4} className="break">
      {pointer === '' ? '' : `${pointer}: `}
      {message}
    </Text>
  ));
}
