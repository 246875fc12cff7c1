/** Two texts, side by side where there is room, else one below the other. Loaded when it is first shown. */
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { useMediaQuery } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import { languages, look } from './code-mirror.tsx';

export default function Difference({
  before,
  after,
  language,
  labels,
}: {
  readonly before: string;
  readonly after: string;
  readonly language: 'json' | 'text';
  readonly labels: readonly [string, string];
}) {
  const place = useRef<HTMLDivElement>(null);
  const wide = useMediaQuery('(min-width: 60em)') ?? true;
  const [beforeLabel, afterLabel] = labels;
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return undefined;
    const side = (label: string) => [
      look,
      languages[language](),
      EditorView.editable.of(false),
      EditorState.readOnly.of(true),
      EditorView.contentAttributes.of({
        'aria-label': label,
        role: 'textbox',
        'aria-readonly': 'true',
        tabindex: '0',
      }),
    ];
    const view = wide
      ? new MergeView({
          parent,
          a: { doc: before, extensions: side(beforeLabel) },
          b: { doc: after, extensions: side(afterLabel) },
          collapseUnchanged: { margin: 3, minSize: 6 },
        })
      : new EditorView({
          parent,
          state: EditorState.create({
            doc: after,
            extensions: [...side(afterLabel), unifiedMergeView({ original: before, mergeControls: false })],
          }),
        });
    return () => view.destroy();
  }, [before, after, language, wide, beforeLabel, afterLabel]);
  return <div className="editor" ref={place} />;
}
