import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * Tests that are paced by real sound: 20 ms a frame, spoken sentences, the patience of telephones. They wait more than
 * they work, and fail where nobody leaves them the processor in time.
 */
const paced = [
  'packages/sip/test/media/**/*.test.ts',
  'packages/sip/test/peers/**/*.test.ts',
  'packages/server/test/flows/sip/**/*.test.ts',
  'packages/server/test/flows/inbound/sip.test.ts',
  'packages/server/test/flows/trunks/sip-test-calls.test.ts',
  'packages/server/test/flows/console/{listen,talk-sound}.test.ts',
  'packages/server/test/unit/carriers/sip/**/*.test.ts',
  'packages/server/test/unit/agents/**/on-a-line.test.ts',
  'packages/console/test/{listen,talk}.test.ts',
];

const common = {
  // Only against tests that hang: how long something takes on a busy machine says nothing about it.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 20_000, interval: 20 } },
  pool: 'forks',
  maxWorkers: 3,
} as const;

/** First the work; then, alone, what is paced. Both by more processes than there are processors to wait for them. */
const projects: TestProjectInlineConfiguration[] = [
  {
    test: {
      ...common,
      name: 'work',
      include: ['packages/*/test/**/*.test.ts', 'tools/**/*.test.ts'],
      exclude: paced,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: { ...common, name: 'paced', include: paced, sequence: { groupOrder: 1 } },
  },
];

export default defineConfig({
  test: {
    globalSetup: ['tools/test-peers.ts', 'packages/server/test/kit/global-setup.ts'],
    projects,
  },
});
