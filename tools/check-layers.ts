/**
 * Checks that dependencies point one way only.
 *
 * The table says what each part of the tree may import; everything else is refused, and so is a cycle. It also
 * asserts that the tool really read the sources: without a parser for TypeScript it visits nothing and is
 * content.
 */
import { readdirSync } from 'node:fs';
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';

const server = 'packages/server/src';
const stages = [
  'acceptance',
  'queue',
  'dial',
  'conversation',
  'result',
  'publication',
  'authoring',
  'billing',
  'inbound',
];
const lowerLayers = ['contract', 'platform', 'storage', 'carriers', 'agents', 'calls'];

/** What a part may import beside itself and packages from npm. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  sip: [],
  sdk: ['contract'],
  // The CLI starts the program, and checks Goal files with the code that publishes them.
  cli: ['sdk', 'contract', 'main', 'authoring'],
  // Runs in browsers; what it imports of others vanishes with their types.
  console: ['contract', 'sdk'],
  platform: ['contract'],
  carriers: ['contract', 'platform', 'sip'],
  agents: ['contract', 'platform', 'carriers', 'sip'],
  storage: ['contract', 'platform', 'carriers', 'agents'],
  // How a call of several numbers goes on: acceptance begins it, the worker moves it on.
  calls: ['contract', 'platform', 'agents', 'storage'],
  ...Object.fromEntries(stages.map((stage) => [stage, lowerLayers])),
  // A rehearsal and a worker compose the stages; HTTP and the operator API use them.
  rehearsal: [...lowerLayers, ...stages],
  worker: [...lowerLayers, ...stages],
  http: [...lowerLayers, ...stages, 'rehearsal'],
  // Translates call tasks in and out, at the same doors.
  legacy: [...lowerLayers, ...stages, 'http'],
  main: [...lowerLayers, ...stages, 'rehearsal', 'worker', 'http', 'legacy'],
};

const pathOf: Readonly<Record<string, string>> = {
  contract: '^packages/contract/src/',
  sip: '^packages/sip/src/',
  sdk: '^packages/sdk/src/',
  cli: '^packages/cli/(src/|package.json)',
  console: '^packages/console/app/',
  main: `^${server}/[^/]+\\.ts$`,
  ...Object.fromEntries(
    [
      'platform',
      'storage',
      'carriers',
      'agents',
      'calls',
      'rehearsal',
      'worker',
      'http',
      'legacy',
      ...stages,
    ].map((part) => [part, `^${server}/${part}/`]),
  ),
};

const rules: IForbiddenRuleType[] = Object.entries(mayImport).map(([part, allowed]) => ({
  name: `${part} imports only ${allowed.join(', ') || 'itself'}`,
  severity: 'error',
  from: { path: pathOf[part] ?? part },
  to: {
    path: '^packages/',
    pathNot: ['/node_modules/', ...[part, ...allowed].map((name) => pathOf[name] ?? name)],
  },
}));

const { output } = await cruise(
  [
    'packages/contract/src',
    'packages/sip/src',
    'packages/sdk/src',
    'packages/cli/src',
    'packages/console/app',
    server,
  ],
  {
    validate: true,
    ruleSet: {
      forbidden: [
        ...rules,
        {
          name: 'console imports types only',
          severity: 'error',
          from: { path: pathOf['console'] ?? '' },
          to: { path: '^packages/(contract|sdk)/', dependencyTypesNot: ['type-only'] },
        },
        {
          name: 'no cycles',
          severity: 'error',
          from: {},
          to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
        },
        { name: 'every import can be found', severity: 'error', from: {}, to: { couldNotResolve: true } },
      ],
    },
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js'],
    },
  },
);
const result = output as ICruiseResult;

const folders = ['contract', 'sip', 'sdk', 'cli', 'server'].map((name) => `packages/${name}/src`);
const sources = [...folders, 'packages/console/app'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file)),
);
const visited = result.modules.filter(({ source }) => /^packages\/[^/]+\/(src|app)\/.*\.tsx?$/.test(source));
const links = visited.reduce((sum, module) => sum + module.dependencies.length, 0);
if (visited.length < sources.length || links < visited.length) {
  console.error(
    `visited ${visited.length} of ${sources.length} modules with ${links} imports: the check is blind`,
  );
  process.exit(1);
}
for (const { from, to, rule } of result.summary.violations) console.error(`${from} → ${to}: ${rule.name}`);
if (result.summary.error > 0) process.exit(1);
console.log(`layers: ${visited.length} modules, ${links} imports, no violation`);
