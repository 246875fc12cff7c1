import { Table, Text } from '@mantine/core';
import { Scroll } from '../parts/page.tsx';
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
  return (
    <Scroll label={words.result}>
      {result === null && <Text c="dimmed">{over ? words.noResult : words.toCome}</Text>}
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{words.field}</Table.Th>
            <Table.Th>{words.value}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {Object.entries(propertiesOf(schema)).map(([name, property]) => (
            <Table.Tr key={name}>
              <Table.Td miw={130}>
                <Text fw={600} size="sm" className="break">
                  {name}
                </Text>
                <Text size="sm" c="dimmed" className="break">
                  {aboutOf(property)}
                </Text>
              </Table.Td>
              <Table.Td className="break">
                {result === null ? '–' : <Shown name={name} value={result[name]} />}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Scroll>
  );
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
