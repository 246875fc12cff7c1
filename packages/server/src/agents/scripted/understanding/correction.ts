import type { Scalar } from '@trunkcall/contract';
import { fieldKind, understand, type Field, type Listening } from './understand.ts';
import { fold, humanise } from './text.ts';

export interface Correction<F extends Field> {
  readonly field: F;
  readonly value: Scalar;
}

/**
 * Finds which of the fields a sentence corrects, and to what.
 *
 * Without `known`, only a sentence that says that it corrects ("no, I meant Tuesday") counts. With `known`, the
 * values that the callee was told, any sentence counts that names another value; free text and yes or no then
 * need the field's name or such an opening, because nearly every sentence could be one.
 */
export function findCorrection<F extends Field>(
  fields: readonly F[],
  utterance: string,
  listening: Listening,
  known?: ReadonlyMap<string, Scalar>,
): Correction<F> | null {
  const { grammar } = listening;
  const meant = utterance.replace(grammar.correction, '');
  const announced = meant !== utterance;
  if (!announced && known === undefined) return null;

  const named = fields.filter(({ name }) => ` ${fold(utterance)} `.includes(` ${fold(humanise(name))} `));
  for (const field of named.length > 0 ? named : fields) {
    const about = named.length > 0 ? afterName(meant, field) : meant;
    const plain = ['text', 'yes_no'].includes(fieldKind(field, grammar));
    if (plain && !(announced || named.length > 0)) continue;
    const understood = understand(field, about, listening);
    if (understood.kind === 'value' && understood.value !== known?.get(field.name)) {
      return { field, value: understood.value };
    }
  }
  return null;
}

/** What stands behind the field's name: of "no, the day is Tuesday", the value alone. */
function afterName(sentence: string, field: Field): string {
  const name = humanise(field.name);
  const at = sentence.toLowerCase().indexOf(name.toLowerCase());
  return at === -1 ? sentence : sentence.slice(at + name.length).replace(/^[\s,:.]+/, '');
}
