/**
 * What a Goal must satisfy beyond its shape. Each rule names the sections that it reads and runs only when
 * these have the right shape, so one mistake is reported once and everything else still in the same pass.
 */
import {
  GoalFile,
  goalRunErrors,
  type ResultSchema,
  type Scalar,
  type ScalarProperty,
} from '@trunkcall/contract';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { below } from '../platform/json-pointer.ts';
import type { GoalProblem } from './goal-source.ts';
import { compileShape } from './shape.ts';

const shapeProblems = compileShape(GoalFile);

type Report = (pointer: string, message: string) => void;

interface Rule {
  readonly reads: readonly (keyof GoalFile)[];
  readonly check: (goal: GoalFile, report: Report) => void;
}

/** Everything that is wrong with a Goal, as far as it can be known without a deployment. Never throws. */
export function goalProblems(value: unknown): GoalProblem[] {
  const problems = shapeProblems(value);
  if (problems.some(({ pointer }) => pointer === '') && !isMapping(value)) return problems;
  const goal = value as GoalFile;
  const broken = new Set(problems.map(({ pointer }) => pointer.split('/')[1]));
  const whole = ({ reads }: Rule) => reads.every((name) => Object.hasOwn(goal, name) && !broken.has(name));
  for (const rule of rules) {
    if (whole(rule)) rule.check(goal, (pointer, message) => problems.push({ pointer, message }));
  }
  return problems;
}

const rules: readonly Rule[] = [
  {
    reads: ['input_schema'],
    check: ({ input_schema }, report) => checkSchema('/input_schema', input_schema, report),
  },
  {
    reads: ['result_schema'],
    check: ({ result_schema }, report) => {
      checkSchema('/result_schema', result_schema, report);
      for (const [name, property] of Object.entries(result_schema.properties)) {
        if (property.default === undefined) continue;
        const place = below(below('/result_schema/properties', name), 'default');
        report(place, 'a result has no defaults: remove it; what was not said stays out');
      }
    },
  },
  {
    reads: ['instructions', 'input_schema'],
    check: ({ instructions, input_schema }, report) =>
      checkPlaceholders('/instructions', instructions, input_schema, report),
  },
  {
    // The scripted agent fills them in when it asks.
    reads: ['result_schema', 'input_schema'],
    check: ({ result_schema, input_schema }, report) => {
      for (const [name, { description = '' }] of Object.entries(result_schema.properties)) {
        const place = below(below('/result_schema/properties', name), 'description');
        checkPlaceholders(place, description, input_schema, report);
      }
    },
  },
  {
    reads: ['voice'],
    check: ({ voice }, report) => checkCountry('/voice/region', voice.region, report),
  },
  { reads: ['locale'], check: ({ locale }, report) => checkLocale(locale, report) },
  {
    reads: ['targets'],
    check: ({ targets }, report) => {
      for (const [index, country] of targets.countries.entries()) {
        checkCountry(below('/targets/countries', index), country, report);
      }
    },
  },
  { reads: ['calling_window'], check: checkWindow },
  { reads: ['inbound', 'input_schema'], check: checkInbound },
  { reads: ['transfer', 'targets'], check: checkTransfer },
  { reads: ['callees', 'result_schema'], check: checkCallees },
  { reads: ['callees', 'input_schema'], check: checkCalleeVariables },
];

const maxProperties = 100;
const maxSchemaBytes = 65_536;
const propertyName = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;

function checkSchema(place: string, schema: ResultSchema, report: Report): void {
  const names = Object.keys(schema.properties);
  if (names.length > maxProperties) {
    report(`${place}/properties`, `has ${names.length} properties; at most ${maxProperties} are allowed`);
  }
  if (Buffer.byteLength(JSON.stringify(schema)) > maxSchemaBytes) {
    report(place, `is larger than ${maxSchemaBytes} bytes; shorten the descriptions or lists`);
  }
  for (const [name, property] of Object.entries(schema.properties)) {
    const at = below(`${place}/properties`, name);
    if (propertyName.test(name) && name !== '__proto__') checkProperty(at, property, report);
    else report(at, 'a name starts with a letter or _ and has at most 64 letters, digits and _');
  }
  const seen = new Set<string>();
  for (const [index, name] of schema.required.entries()) {
    const at = below(`${place}/required`, index);
    if (!Object.hasOwn(schema.properties, name)) {
      report(at, `is not among the properties; declared are: ${names.join(', ') || 'none'}`);
    } else if (seen.has(name)) report(at, 'is required twice; keep one');
    seen.add(name);
  }
}

function checkProperty(place: string, property: ScalarProperty, report: Report): void {
  const seen = new Set<Scalar>();
  for (const [index, value] of (property.enum ?? []).entries()) {
    const at = below(`${place}/enum`, index);
    if (!hasType(value, property.type)) report(at, `must be of the property’s type, ${property.type}`);
    else if (seen.has(value)) report(at, 'is listed twice; keep one');
    seen.add(value);
  }
  if (property.default === undefined) return;
  if (!hasType(property.default, property.type)) {
    report(`${place}/default`, `must be of the property’s type, ${property.type}`);
  } else if (property.enum !== undefined && !property.enum.includes(property.default)) {
    report(`${place}/default`, 'must be one of the values in `enum`');
  }
}

function hasType(value: Scalar, type: ScalarProperty['type']): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeof value === type;
}

/** `{{name}}` exactly, so that what is written is what is filled in. */
function checkPlaceholders(
  place: string,
  text: string,
  input: GoalFile['input_schema'],
  report: Report,
): void {
  const declared = Object.keys(input.properties);
  const wrong = new Set<string>();
  for (const [placeholder, inner = ''] of text.matchAll(/\{\{([^{}]*)\}\}/g)) {
    if (!declared.includes(inner)) wrong.add(placeholder.slice(0, 80));
  }
  for (const placeholder of wrong) {
    const names = declared.map((name) => `{{${name}}}`).join(', ') || 'none';
    report(place, `${placeholder} stands for no input variable; there are: ${names}`);
  }
  const rest = text.replaceAll(/\{\{[^{}]*\}\}/g, '');
  if (rest.includes('{{') || rest.includes('}}')) {
    report(place, 'has a {{ or }} without its partner; a placeholder is written {{name}}');
  }
}

function checkCountry(place: string, code: string, report: Report): void {
  if (!isSupportedCountry(code)) {
    report(place, 'is not an ISO 3166-1 alpha-2 code of a country with telephone numbers, such as US or DE');
  }
}

const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });

function checkLocale(locale: string, report: Report): void {
  const [canonical] = Intl.getCanonicalLocales(locale);
  if (canonical !== undefined && canonical !== locale) {
    report('/locale', `is not in canonical form (BCP 47); write ${canonical}`);
  } else if (languages.of(locale) === undefined) {
    report('/locale', 'names a language or region that does not exist; write one such as en-US or de-DE');
  }
}

function checkWindow({ calling_window }: GoalFile, report: Report): void {
  if (calling_window === undefined) return;
  if (!isTimeZone(calling_window.timezone)) {
    report('/calling_window/timezone', 'is not an IANA time zone; write one such as America/New_York');
  }
  if (calling_window.from >= calling_window.to) {
    report('/calling_window/to', 'must be later than `from` on the same day; 24:00 is the end of the day');
  }
}

function checkInbound({ inbound, calling_window, input_schema }: GoalFile, report: Report): void {
  if (inbound === undefined) return;
  const { outside_hours, message } = inbound;
  if (outside_hours === 'message' && message === undefined) {
    report('/inbound/message', 'is missing: outside_hours is message, so say what callers are to hear');
  }
  if (outside_hours === 'reject' && message !== undefined) {
    report('/inbound/message', 'is never said, because outside_hours is reject; remove it or write message');
  }
  if (outside_hours === 'message' && calling_window === undefined) {
    report('/inbound/outside_hours', 'needs a calling_window: without one every hour is open');
  }
  if (message !== undefined) checkPlaceholders('/inbound/message', message, input_schema, report);
}

function isTimeZone(name: string): boolean {
  // The runtime also takes offsets such as +01:00; they are no zones and know no daylight saving.
  if (!/^[A-Z]/i.test(name)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Whoever is called for a callee is called by this Goal: in its countries, and under a name of their own. */
function checkTransfer({ transfer = [], targets }: GoalFile, report: Report): void {
  const seen = new Set<string>();
  for (const [index, { name, phone, when = '' }] of transfer.entries()) {
    const place = below('/transfer', index);
    const spoken = name.normalize('NFC').toLowerCase();
    if (seen.has(spoken))
      report(`${place}/name`, 'another one has this name already; the agent chooses by name');
    seen.add(spoken);
    const number = parsePhoneNumberFromString(phone);
    if (number?.isValid() !== true) report(`${place}/phone`, 'is not a number of any known numbering plan');
    else if (number.country === undefined || !targets.countries.includes(number.country)) {
      report(`${place}/phone`, `is outside the countries in \`targets\` (${targets.countries.join(', ')})`);
    }
    if (/\{\{|\}\}/.test(when))
      report(`${place}/when`, 'takes no placeholders; put them into `instructions`');
  }
}

function checkCallees({ callees = [], result_schema }: GoalFile, report: Report): void {
  const fields = result_schema.properties;
  const undeclared = `is not a field of result_schema; declared are: ${Object.keys(fields).join(', ') || 'none'}`;
  const seen = new Set<string>();
  for (const [index, { phone, says = {}, expect }] of callees.entries()) {
    const place = below('/callees', index);
    if (seen.has(phone)) report(`${place}/phone`, 'another callee has this number already');
    seen.add(phone);
    for (const name of Object.keys(says)) {
      if (!Object.hasOwn(fields, name)) report(below(`${place}/says`, name), undeclared);
    }
    for (const [name, value] of Object.entries(expect?.result ?? {})) {
      const at = below(`${place}/expect/result`, name);
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) report(at, undeclared);
      else if (!hasType(value, field.type)) report(at, `must be of the field’s type, ${field.type}`);
    }
    if (expect?.result !== undefined && expect.error !== undefined) {
      report(`${place}/expect`, 'a Run ends with a result or an error; expect one of them');
    }
    if (expect?.error !== undefined && !Object.hasOwn(goalRunErrors, expect.error)) {
      report(`${place}/expect/error`, `must be one of: ${Object.keys(goalRunErrors).join(', ')}`);
    }
  }
}

/**
 * A callee's variables are a request's: whole and valid. Without any the callee still serves calls; only a test asks for
 * them.
 */
function checkCalleeVariables({ callees = [], input_schema }: GoalFile, report: Report): void {
  const { properties, required } = input_schema;
  const names = Object.keys(properties).join(', ') || 'none';
  for (const [index, { variables }] of callees.entries()) {
    if (variables === undefined) continue;
    const place = `/callees/${index}/variables`;
    for (const [name, value] of Object.entries(variables)) {
      const at = below(place, name);
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property === undefined) report(at, `is not a variable of input_schema; declared are: ${names}`);
      else if (!hasType(value, property.type)) report(at, `must be of the variable’s type, ${property.type}`);
      else if (property.enum?.includes(value) === false)
        report(at, `must be one of: ${property.enum.join(', ')}`);
    }
    for (const name of required) {
      const isGiven = Object.hasOwn(variables, name) || properties[name]?.default !== undefined;
      if (!isGiven) report(below(place, name), 'is missing; input_schema requires this variable');
    }
  }
}

const isMapping = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
