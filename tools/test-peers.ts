/**
 * Makes sure that the programs which tests talk to are there: on Debian, as root, they are installed; elsewhere the
 * tests that need them are skipped, loudly, with the hint what to install. Vitest runs this once before all tests.
 */
import { spawnSync, type SpawnSyncOptions } from 'node:child_process';

/** Programs, and the Debian package that brings each. */
const peers: Readonly<Record<string, string>> = {
  sipp: 'sip-tester',
  kamailio: 'kamailio',
  baresip: 'baresip-core',
  'espeak-ng': 'espeak-ng',
  chromium: 'chromium',
};

/** Whether a program can be started. Its exit code says nothing: some know `--version`, some only complain. */
const isThere = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore', timeout: 10_000 }).error === undefined;

export default function installPeers(): void {
  const missing = Object.entries(peers).filter(([program]) => !isThere(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  const mayInstall = process.getuid?.() === 0 && isThere('apt-get');
  if (mayInstall) {
    const options: SpawnSyncOptions = {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 300_000,
    };
    // Its package starts a proxy for everybody where systemd runs; the tests start their own. No systemctl, no harm.
    if (packages.includes('kamailio')) spawnSync('systemctl', ['mask', 'kamailio.service'], options);
    spawnSync('apt-get', ['update', '-q'], options);
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], options);
  }
  const absent = missing.filter(([program]) => !isThere(program));
  if (absent.length === 0) return;
  const hint = `apt-get install -y ${absent.map(([, name]) => name).join(' ')}`;
  if (process.env['CI'] !== undefined) throw new Error(`In CI no test may be skipped: ${hint}`);
  process.stderr.write(`\nSome tests will be SKIPPED. To run them: ${hint}\n\n`);
}
