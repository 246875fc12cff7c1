import { ResultTable } from '../parts/result-table.tsx';
import { Verbatim } from '../parts/section.tsx';
import { text } from '../text.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const { run: words } = text;

/** A result beside its schema: a row for each property; what lies deeper is shown as JSON. */
export function SchemaResult({
  schema,
  result,
  over,
}: {
  readonly schema: JsonObject;
  readonly result: JsonObject | null;
  readonly over: boolean;
}) {
  const fields = Object.entries(propertiesOf(schema)).map(([name, property]) => ({
    name,
    about: aboutOf(property),
    value: result === null ? '–' : <Shown name={name} value={result[name]} />,
  }));
  const none = over ? words.noResult : words.toCome;
  return <ResultTable fields={fields} note={result === null ? none : null} />;
}

function Shown({ name, value }: { readonly name: string; readonly value: unknown }) {
  if (value === undefined) return words.missing;
  if (typeof value === 'boolean') return value ? text.common.yes : text.common.no;
  if (typeof value === 'string' || typeof value === 'number') return String(value);
  return <Verbatim label={name}>{JSON.stringify(value, null, 2)}</Verbatim>;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

/** The description of a property, or else its type. */
function aboutOf(property: unknown): string {
  if (!isObject(property)) return '';
  const { description, type } = property;
  if (typeof description === 'string') return description;
  return typeof type === 'string' ? type : '';
}
