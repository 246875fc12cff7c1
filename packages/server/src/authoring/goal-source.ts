import { below } from '../platform/json-pointer.ts';
/**
 * Reads the text of a Goal file into plain values, and remembers where each value stood.
 *
 * One reader serves both notations: YAML 1.2 (core schema) contains JSON. It is stricter than either where
 * leniency would hide a mistake: a key written twice, an alias, a tag, a number that no double holds, text
 * that the database can not keep.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type Scalar } from 'yaml';

/** What is wrong at one place of a Goal; `pointer` is an RFC 6901 JSON pointer. */
export interface GoalProblem {
  readonly pointer: string;
  readonly message: string;
}

/** A problem with its place in the text: line and column count from 1. */
export interface LocatedProblem extends GoalProblem {
  readonly line: number;
  readonly column: number;
}

export interface GoalSource {
  /** Plain JSON values; what had a problem is undefined. */
  readonly value: unknown;
  readonly problems: readonly LocatedProblem[];
  /** Adds the place in the text of what the pointer names, or of the nearest thing that encloses it. */
  locate(problem: GoalProblem): LocatedProblem;
}

/** Goal files are small; 256 KiB of UTF-8 is far more than the largest sensible one. */
export const maxGoalFileBytes = 262_144;
const maxDepth = 16;
const tooDeep = 'nested too deeply for a Goal file';

/** Reads `text`. Never throws: whatever is wrong with the notation comes back as problems. */
export function readGoalSource(text: string): GoalSource {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };

  if (Buffer.byteLength(text) > maxGoalFileBytes) {
    return failed([
      { line: 1, column: 1, pointer: '', message: `a Goal file has at most ${maxGoalFileBytes} bytes` },
    ]);
  }
  // Its own look for repeated keys takes quadratic time; ours below does not.
  const document = parseDocument(text, {
    lineCounter: lines,
    version: '1.2',
    schema: 'core',
    stringKeys: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  });
  if (document.errors.length > 0) {
    const problem = (error: { readonly message: string; readonly pos: readonly [number, number] }) => ({
      ...at(error.pos[0]),
      pointer: '',
      message: `not valid YAML or JSON: ${error.message}`,
    });
    const exhausted = document.errors.find(({ code }) => code === 'RESOURCE_EXHAUSTION');
    if (exhausted !== undefined) {
      return failed([{ ...at(exhausted.pos[0]), pointer: '', message: tooDeep }]);
    }
    // After the first faults of notation the rest is mostly their echo.
    return failed(document.errors.slice(0, 10).map(problem));
  }

  const walk = new Walk();
  const value = document.contents === null ? undefined : walk.read(document.contents, '', 0);
  if (value === undefined && walk.problems.length === 0) {
    walk.problems.push({ offset: 0, pointer: '', message: 'the file is empty; a Goal file is a mapping' });
  }
  return {
    value,
    problems: walk.problems.map(({ offset, pointer, message }) => ({ ...at(offset), pointer, message })),
    locate: (problem) => ({ ...problem, ...at(walk.offsetOf(problem.pointer)) }),
  };
}

const failed = (problems: readonly LocatedProblem[]): GoalSource => ({
  value: undefined,
  problems,
  locate: (problem) => ({ ...problem, line: 1, column: 1 }),
});

/** Turns the document's nodes into values, noting offsets by pointer. */
class Walk {
  readonly problems: (GoalProblem & { readonly offset: number })[] = [];
  readonly #offsets = new Map<string, number>();

  read(node: Node, pointer: string, depth: number): unknown {
    const offset = node.range?.[0] ?? 0;
    if (!this.#offsets.has(pointer)) this.#offsets.set(pointer, offset);
    const refuse = (message: string): undefined => {
      this.problems.push({ offset, pointer, message });
    };
    if (depth > maxDepth) return refuse(tooDeep);
    if (node.tag !== undefined) return refuse(`tags are not supported; remove ${node.tag}`);
    if (isMap<Node, Node | null>(node)) {
      return this.#readMap(node.items, pointer, depth);
    }
    if (isSeq<Node>(node)) {
      return node.items.map((item, index) => this.read(item, below(pointer, index), depth + 1));
    }
    if (isScalar(node)) return readScalar(node, refuse);
    return refuse('aliases are not supported; write the value out');
  }

  /** Where the value that the pointer names begins (its key, for a field of a mapping). */
  offsetOf(pointer: string): number {
    for (let known = pointer; known !== ''; known = known.slice(0, known.lastIndexOf('/'))) {
      const offset = this.#offsets.get(known);
      if (offset !== undefined) return offset;
    }
    return this.#offsets.get('') ?? 0;
  }

  #readMap(
    pairs: readonly { readonly key: Node; readonly value: Node | null }[],
    pointer: string,
    depth: number,
  ): Record<string, unknown> {
    const fields: [string, unknown][] = [];
    const seen = new Set<string>();
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : '';
      const here = below(pointer, name);
      const offset = key.range?.[0] ?? 0;
      const refuse = (message: string) => this.problems.push({ offset, pointer: here, message });
      if (seen.has(name)) {
        refuse('this key stands here a second time; keep one');
        continue;
      }
      seen.add(name);
      this.#offsets.set(here, offset);
      if (name === '__proto__') refuse('`__proto__` can not be a key; choose another name');
      else if (!isStorable(name))
        refuse('a key has a character that can not be stored (U+0000 or a lone surrogate)');
      else fields.push([name, value === null ? null : this.read(value, here, depth + 1)]);
    }
    return Object.fromEntries(fields);
  }
}

function readScalar(node: Scalar, refuse: (message: string) => undefined): unknown {
  const { value } = node;
  if (typeof value === 'string' && !isStorable(value)) {
    return refuse('the text has a character that can not be stored (U+0000 or a lone surrogate)');
  }
  if (typeof value === 'number' && !isExact(value)) {
    return refuse('the number can not be kept exactly; write a finite number, integers within ±2^53');
  }
  return value;
}

const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000');

const isExact = (value: number) =>
  Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
