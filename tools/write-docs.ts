/**
 * Writes the parts of docs/ that come from the code: errors, configuration and the OpenAPI documents.
 *
 *   node tools/write-docs.ts            writes them
 *   node tools/write-docs.ts --check    fails if one is stale
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  apiErrors,
  detailCodes,
  goalRunErrors,
  openApiDocument,
  operatorOpenApiDocument,
  scopes,
  SipSettings,
  Trunk,
} from '@trunkcall/contract';
import { settings } from '../packages/server/src/settings.ts';
import { outcomes, settlements } from '../packages/server/src/dial/outcome.ts';

const generated = '<!-- Written by `npm run docs`; do not edit. -->\n';

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function errorsPage(): string {
  const api = Object.entries(apiErrors).map(([code, { statuses, meaning, action }]) => [
    `\`${code}\``,
    statuses.join(', '),
    meaning,
    action,
  ]);
  const run = Object.entries(goalRunErrors).map(([code, meaning]) => [`\`${code}\``, meaning]);
  const detail = Object.entries(detailCodes).map(([code, meaning]) => [`\`${code}\``, meaning]);
  const ends = outcomes.map((outcome) => {
    const { status, errorCode, detailCode } = settlements[outcome];
    return [
      `\`${outcome}\``,
      `\`${status}\``,
      errorCode === null ? '–' : `\`${errorCode}\``,
      detailCode === null ? '–' : `\`${detailCode}\``,
    ];
  });
  return `${generated}
# Errors

Every response that is not 2xx is \`{"error":{"code","message","details"}}\`. Programs read \`code\`; \`message\` is for
logs and names the offending field, never its value. \`details\` is an object, \`{}\` when there is nothing more.

## Refused requests

${table(['code', 'HTTP status', 'meaning', 'what to do'], api)}

## Goal Runs without a result

A Goal Run that will have no result has \`error\`: \`{code, message, detail_code}\`. It is final.

${table(['code', 'meaning'], run)}

The \`detail_code\` says more. New ones may be added; \`null\` is possible.

${table(['detail_code', 'meaning'], detail)}

## How a call ends, and what becomes of the Run

\`completed\` without an error goes on to result processing, which ends in a result or in \`result_invalid\`,
\`result_unavailable\` or \`result_failed\`.

${table(['end of the call', 'status', 'error.code', 'detail_code'], ends)}

## Scopes of API keys

${scopes.map((scope) => `- \`${scope}\``).join('\n')}
`;
}

function configurationPage(): string {
  const rows = Object.values(settings).map((setting) => [
    `\`${setting.variable}\``,
    setting.takes,
    setting.default === null ? '–' : `\`${setting.default}\``,
    setting.secret === true ? `${setting.about} Secret.` : setting.about,
  ]);
  return `${generated}
# Configuration

Settings are environment variables. \`TRUNKCALL_SETTINGS_FILE\` may name a YAML file with the same names in lower case
and without the prefix (\`port: 8080\`); a variable wins over the file. A setting that can not be used stops the start
with one line that names it.

${table(['variable', 'takes', 'default', 'about'], rows)}

## Trunks

The settings file alone holds \`trunks\`, a list, and \`sip\`, our own end. They are used in \`production\`; \`test\` can not
reach them. Calls try the trunks in the order of the list. An example:

\`\`\`yaml
sip:
  bind: 192.0.2.10
  public_address: 203.0.113.10
trunks:
  - name: north
    proxy: { host: sip.example.com, port: 5061, transport: tls }
    credentials: { username: acme, password: '\${NORTH_PASSWORD}' }
    caller_numbers: ['+12025550142']
    countries: [US, CA]
    srtp: required
    calls_per_second: 5
    max_calls: 50
    inbound: [198.51.100.0/24]
\`\`\`

Each trunk; a field inside another is needed where that one is given:

${table(['field', 'needed', 'about'], fieldsOf(Trunk))}

\`sip\`:

${table(['field', 'needed', 'about'], fieldsOf(SipSettings))}
`;
}

interface Described {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly items?: object;
}

/** A row for every field of a JSON Schema, those inside others behind a dot. */
function fieldsOf(schema: object, path = ''): string[][] {
  const { properties = {}, required = [] } = schema as Described;
  return Object.entries(properties).flatMap(([name, field]) => {
    const { description = '', items = field } = field as Described;
    const row = [`\`${path}${name}\``, required.includes(name) ? 'yes' : '', description];
    return [row, ...fieldsOf(items, `${path}${name}.`)];
  });
}

const pages: Readonly<Record<string, () => string>> = {
  'docs/reference/errors.md': errorsPage,
  'docs/reference/configuration.md': configurationPage,
  'docs/reference/openapi.json': () => `${JSON.stringify(openApiDocument(), null, 2)}\n`,
  'docs/reference/operator-openapi.json': () => `${JSON.stringify(operatorOpenApiDocument(), null, 2)}\n`,
};

const check = process.argv.includes('--check');
const stale: string[] = [];
for (const [path, write] of Object.entries(pages)) {
  const text = write();
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  stale.push(path);
  if (check) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
if (check && stale.length > 0) {
  console.error(`stale: ${stale.join(', ')}; run npm run docs`);
  process.exit(1);
}
console.log(stale.length === 0 ? 'docs: up to date' : `docs: wrote ${stale.join(', ')}`);
