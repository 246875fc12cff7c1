import type { Scalar, ScalarProperty } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { es } from '../../../src/agents/scripted/locales/es.ts';
import { parseIsoDay } from '../../../src/agents/scripted/understanding/dates.ts';
import { fold } from '../../../src/agents/scripted/understanding/text.ts';
import {
  understand,
  type Field,
  type Listening,
} from '../../../src/agents/scripted/understanding/understand.ts';

/** Today is Saturday, 21 November 2026. */
const listening: Listening = { grammar: es.grammar, today: parseIsoDay('2026-11-21') ?? 0, region: 'ES' };

const field = (property: ScalarProperty, required = true): Field => ({ name: 'campo', property, required });
const yesNo = field({ type: 'boolean', description: '¿Le viene bien?' });
const whole = field({ type: 'integer', description: '¿Cuántos?' });
const amount = field({ type: 'number', description: '¿Cuánto?' });
const date = field({ type: 'string', description: '¿Qué día?' });
const optionalWords = field({ type: 'string', description: '¿Algo más?' }, false);
const words = field({ type: 'string', description: '¿Qué debemos saber?' });
const person = field({ type: 'string', description: '¿Me dice su nombre?' });
const partOfDay = field({ type: 'string', enum: ['mañana', 'tarde', 'noche', 'unknown'] });
const rating = field({ type: 'string', enum: ['muy_bien', 'bien', 'regular', 'mal'] });

const noAnswer = Symbol('no answer');
const unclear = Symbol('unclear');

function heard(which: Field, utterance: string): Scalar | symbol {
  const understood = understand(which, utterance, listening);
  if (understood.kind === 'value') return understood.value;
  return understood.kind === 'no_answer' ? noAnswer : unclear;
}

/** One test for each row: what is said, and what is understood. */
function table(name: string, which: Field, rows: readonly (readonly [string, Scalar | symbol])[]): void {
  it.each(rows)(`${name}: %s`, (utterance, expected) => {
    expect(heard(which, utterance)).toBe(expected);
  });
}

table('sí y no', yesNo, [
  ['Sí.', true],
  ['Si', true],
  ['Sí, claro.', true],
  ['¡Claro que sí!', true],
  ['Por supuesto.', true],
  ['De acuerdo.', true],
  ['No hay problema.', true],
  ['¿Por qué no?', true],
  ['Me viene bien.', true],
  ['Vale', true],
  ['Creo que sí.', true],
  ['No.', false],
  ['No, gracias.', false],
  ['Claro que no.', false],
  ['Creo que no.', false],
  ['Me temo que no.', false],
  ['Qué va.', false],
  ['No puedo.', false],
  ['No. Perdón, quiero decir sí.', true],
  ['No lo sé.', noAnswer],
  ['Ni idea.', noAnswer],
  ['Prefiero no decirlo.', noAnswer],
  ['Monos morados.', unclear],
  ['Mmm.', unclear],
]);

table('números enteros', whole, [
  ['3', 3],
  ['Tres.', 3],
  ['Veinticinco.', 25],
  ['treinta y cinco', 35],
  ['ciento veinte', 120],
  ['doscientas personas', 200],
  ['mil doscientos', 1200],
  ['dos mil', 2000],
  ['un millón', 1_000_000],
  ['1.250', 1250],
  ['Una docena.', 12],
  ['media docena', 6],
  ['Un par.', 2],
  ['Solo yo.', 1],
  ['Ninguno.', 0],
  ['menos cinco', -5],
  ['Tres, no, cuatro.', 4],
  ['Tres o cuatro.', unclear],
  ['Dos y medio.', unclear],
]);

table('números', amount, [
  ['2,5', 2.5],
  ['2.5', 2.5],
  ['dos coma cinco', 2.5],
  ['dos y medio', 2.5],
  ['1.000,50 €', 1000.5],
]);

table('días', date, [
  ['2027-05-03', '2027-05-03'],
  ['Hoy.', '2026-11-21'],
  ['Mañana.', '2026-11-22'],
  ['Mañana por la mañana.', '2026-11-22'],
  ['Pasado mañana.', '2026-11-23'],
  ['El martes.', '2026-11-24'],
  ['El próximo martes.', '2026-11-24'],
  ['El martes que viene.', '2026-11-24'],
  ['El sábado por la mañana', '2026-11-28'],
  ['este sábado', '2026-11-21'],
  ['El miércoles, no, el jueves.', '2026-11-26'],
  ['Dentro de tres días.', '2026-11-24'],
  ['En dos semanas.', '2026-12-05'],
  ['El 3 de mayo.', '2027-05-03'],
  ['el tres de mayo de 2028', '2028-05-03'],
  ['El primero de diciembre', '2026-12-01'],
  ['El día 15.', '2026-12-15'],
  ['3/5', '2027-05-03'],
  ['El 31 de febrero.', unclear],
  ['Por la mañana.', unclear],
  ['El lunes o el martes', unclear],
  ['No lo sé todavía.', noAnswer],
]);

table('opciones', partOfDay, [
  ['Por la mañana.', 'mañana'],
  ['MANANA', 'mañana'],
  ['Por la tarde, por favor.', 'tarde'],
  ['las tardes', 'tarde'],
  ['La segunda.', 'tarde'],
  ['La última.', 'noche'],
  ['la opción uno', 'mañana'],
  ['La mañana no, la tarde.', 'tarde'],
  ['No por la mañana, por la tarde.', 'tarde'],
  ['unknown', unclear],
  ['Ni idea.', noAnswer],
]);

table('opciones de varias palabras', rating, [
  ['Muy bien.', 'muy_bien'],
  ['Pues bien.', 'bien'],
  ['Regular, la verdad.', 'regular'],
]);

table('texto', words, [
  ['Llamen dos veces.', 'Llamen dos veces'],
  ['Bueno, pues el timbre no funciona.', 'el timbre no funciona'],
  ['Eh, mmm.', unclear],
]);

table('texto opcional', optionalWords, [
  ['No, nada más.', noAnswer],
  ['Nada.', noAnswer],
  ['No, gracias.', noAnswer],
]);

table('nombres', person, [
  ['Me llamo Lucía Romero.', 'Lucía Romero'],
  ['Soy Andrés.', 'Andrés'],
]);

describe('lo que puede querer la otra persona', () => {
  it.each([
    ['No me llamen más, por favor.', 'optOut'],
    ['Bórreme de su lista.', 'optOut'],
    ['Dejen de llamarme.', 'optOut'],
    ['No vuelva a llamarme', 'optOut'],
    ['¿Puede repetirlo?', 'repeat'],
    ['Repita, por favor.', 'repeat'],
    ['¿Cómo?', 'repeat'],
    ['¿Es usted un robot?', 'robot'],
    ['¿Estoy hablando con una máquina?', 'robot'],
    ['¿Quién es?', 'who'],
    ['¿De parte de quién?', 'who'],
    ['¿De qué se trata?', 'about'],
    ['Un momento, por favor.', 'wait'],
    ['Estoy conduciendo.', 'badMoment'],
    ['Llame más tarde.', 'badMoment'],
    ['Se ha equivocado de número.', 'wrongNumber'],
    ['Vale, adiós.', 'farewell'],
  ] as const)('%s', (utterance, intent) => {
    expect(es.grammar[intent].test(fold(utterance))).toBe(true);
  });

  it('no todo lo que habla de llamar es una queja', () => {
    expect(es.grammar.optOut.test(fold('No me llame antes de las nueve.'))).toBe(false);
  });
});
