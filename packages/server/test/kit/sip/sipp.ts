/** Telephones played by SIPp (Debian package `sip-tester`), as `phones.xml` says. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { fileURLToPath } from 'node:url';

export const sippMissing = spawnSync('sipp', ['-v']).error !== undefined;
if (sippMissing)
  process.stderr.write('SKIPPED: the tests against SIPp. To run them: apt-get install -y sip-tester\n');

export interface Sipp {
  readonly port: number;
  close(): Promise<void>;
}

/** Starts SIPp and waits until it answers. It sends back the audio that it gets. */
export async function startSipp(
  scenario = fileURLToPath(new URL('./phones.xml', import.meta.url)),
): Promise<Sipp> {
  const [port, mediaPort] = [await freePort(), await freePort()];
  const place = ['-i', '127.0.0.1', '-p', String(port), '-mi', '127.0.0.1', '-mp', String(mediaPort)];
  const child = spawn(
    'sipp',
    ['-sf', scenario, ...place, '-rtp_echo', '-nostdin', '-nd', '-timeout', '300s'],
    {
      stdio: 'ignore',
      env: { ...process.env, TERM: 'dumb' },
    },
  );
  const exit = once(child, 'exit');
  await listening(port);
  return {
    port,
    async close() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** A port of its own, below those that the kernel hands out: nobody else gets it before SIPp has started. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + 2 * Math.floor(Math.random() * 4_000);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4');
  const free = new Promise<boolean>((resolve) => {
    socket.once('error', () => resolve(false));
    socket.bind(port, '127.0.0.1', () => resolve(true));
  });
  const isOurs = await free;
  await new Promise<void>((resolve) => (isOurs ? socket.close(() => resolve()) : resolve()));
  return isOurs;
}

/** Waits until the port is taken, which SIPp does when it is ready. */
async function listening(port: number): Promise<void> {
  const end = performance.now() + 20_000;
  while (await isFree(port)) {
    if (performance.now() > end) throw new Error('SIPp did not start');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
