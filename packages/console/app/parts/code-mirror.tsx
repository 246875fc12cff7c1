/** CodeMirror, loaded when the first editor is shown. */
import { autocompletion, completionKeymap, type CompletionContext } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';
import { nonce } from '../nonce.ts';
import type { CodeEditorProps } from './code-editor.tsx';

/** Colours are the page's variables, so light and dark need no two themes. */
const appearance = EditorView.theme({
  '&': { backgroundColor: 'var(--mantine-color-body)', color: 'var(--mantine-color-text)', fontSize: '14px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-content': {
    fontFamily: 'var(--mantine-font-family-monospace)',
    caretColor: 'var(--mantine-color-text)',
  },
  '.cm-gutters': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-dimmed)',
    border: 'none',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--mantine-color-body)',
    color: 'var(--mantine-color-text)',
    border: '1px solid var(--mantine-color-default-border)',
  },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--mantine-color-blue-8)',
    color: 'var(--mantine-color-white)',
  },
  '.cm-cursor': { borderLeftColor: 'var(--mantine-color-text)' },
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--tc-busy)' },
  { tag: tags.string, color: 'var(--tc-good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--tc-warn)' },
]);

/** What every editor of the console has. */
export const look: Extension = [
  EditorView.cspNonce.of(nonce),
  appearance,
  syntaxHighlighting(colours),
  EditorView.lineWrapping,
];

export const languages: Readonly<Record<CodeEditorProps['language'], () => Extension>> = {
  json: () => [json(), lineNumbers(), lintGutter()],
  text: () => [],
};

export default function CodeMirror(props: CodeEditorProps) {
  const { label, value, language, problems = [], minLines = 8 } = props;
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  // The editor lives longer than a rendering; it asks for what is current.
  const current = useRef(props);
  current.current = props;
  const editable = props.onChange !== undefined;

  useEffect(() => {
    if (place.current === null) return undefined;
    const editor = new EditorView({
      parent: place.current,
      state: EditorState.create({
        doc: current.current.value,
        extensions: [
          look,
          languages[language](),
          history(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          autocompletion({
            override: [(context) => completeVariable(context, current.current.variables ?? [])],
          }),
          EditorView.contentAttributes.of({ 'aria-label': label, role: 'textbox', 'aria-multiline': 'true' }),
          EditorView.theme({ '.cm-content': { minHeight: `${minLines * 1.4}em` } }),
          EditorView.editable.of(editable),
          EditorState.readOnly.of(!editable),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) current.current.onChange?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, language, minLines, editable]);

  // A value from outside (another version, a form) replaces the text; the own text comes back unchanged.
  useEffect(() => {
    const editor = view.current;
    if (editor === null || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (editor === null) return;
    const marks = problems.map(({ pointer, message }): Diagnostic => {
      const { from, to } = language === 'json' ? placeOf(editor.state, pointer) : { from: 0, to: 0 };
      return { from, to, message, severity: 'error' };
    });
    editor.dispatch(setDiagnostics(editor.state, marks));
  }, [problems, language]);

  return <div ref={place} />;
}

/** Offers the variables behind `{{`. */
function completeVariable(context: CompletionContext, variables: readonly string[]) {
  const begun = context.matchBefore(/\{\{\w*/);
  if (begun === null) return null;
  return {
    from: begun.from,
    options: variables.map((name) => ({ label: `{{${name}}}`, type: 'variable' })),
  };
}

/** The place of what a JSON pointer names, or of the nearest thing around it. */
function placeOf(state: EditorState, pointer: string): { from: number; to: number } {
  let node = syntaxTree(state).topNode.firstChild;
  for (const token of pointer.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    const inner =
      node?.name === 'Array'
        ? node.getChildren('JSONValue')[Number(name)]
        : node?.getChildren('Property').find((property) => {
            const key = property.firstChild;
            return key !== null && state.sliceDoc(key.from, key.to) === JSON.stringify(name);
          });
    if (inner === undefined) break;
    node = inner.name === 'Property' ? inner.lastChild : inner;
  }
  return node === null
    ? { from: 0, to: 0 }
    : { from: node.from, to: Math.min(node.to, state.doc.lineAt(node.from).to) };
}
