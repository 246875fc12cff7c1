/** Answers that name several things at once: "Monday, Wednesday and Friday". */
import type { CallScalar, Scalar } from '@trunkcall/contract';
import { fold, humanise, phraseFinder } from '../agents/scripted/understanding/text.ts';

/** As many as an enum has members; more is no list that somebody says. */
const maxItems = 100;
/** "And" and "or" in some languages, without those that mean something else in another one of them. */
const joining = ['and', 'or', 'y', 'e', 'o', 'und', 'oder', 'et', 'ou'];
/** A comma between digits belongs to a number. */
const separator = new RegExp(
  `\\s*(?:(?<!\\d),|,(?!\\d)|[;、，\\n&]|(?<![^\\s,;])(?:${joining.join('|')})(?![^\\s,;]))\\s*`,
  'iu',
);
const joiners = new Set(joining);

/**
 * Splits an answer into items of the declared type, at most 100, in order.
 *
 * Free text is split at commas and at "and"; a piece that is no such item is left out. Members of an enum are
 * found by their words, and only in an answer that says nothing else: "Monday but not Tuesday" names none.
 */
export function splitList(answer: Scalar, items: CallScalar): Scalar[] {
  if (typeof answer !== 'string') return [answer];
  if (items.enum !== undefined) return membersIn(answer, items.enum).slice(0, maxItems);
  return answer
    .split(separator)
    .map((piece) => piece.trim())
    .filter((piece) => piece !== '')
    .flatMap((piece) => itemOf(piece, items.type))
    .slice(0, maxItems);
}

function membersIn(answer: string, members: readonly Scalar[]): Scalar[] {
  const text = fold(answer);
  const spoken = members.map((member) => [fold(humanise(String(member))), member] as const);
  const mentions = phraseFinder(spoken)(text);
  const gaps = mentions.map(({ end }, index) => text.slice(end, mentions[index + 1]?.start));
  const rest = [text.slice(0, mentions[0]?.start), ...gaps].join(' ').split(/[^\p{L}\p{N}]+/u);
  const nothingElse = rest.every((word) => word === '' || joiners.has(word));
  return nothingElse ? [...new Set(mentions.map(({ value }) => value))] : [];
}

/** The item that a piece stands for; empty when it stands for none. */
function itemOf(piece: string, type: CallScalar['type']): Scalar[] {
  switch (type) {
    case 'string':
      return [piece];
    case 'number':
      return [numberFrom(piece)].filter(Number.isFinite);
    case 'integer':
      return [numberFrom(piece)].filter(Number.isInteger);
    case 'boolean':
      return yesOrNo.get(fold(piece)) ?? [];
  }
}

function numberFrom(piece: string): number {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(piece) ? Number(piece.replace(',', '.')) : Number.NaN;
}

const yesOrNo = new Map<string, boolean[]>([
  ['yes', [true]],
  ['true', [true]],
  ['si', [true]],
  ['no', [false]],
  ['false', [false]],
]);
