/** SIPp, which follows a scenario to the letter: it ends with 0 when every call went as that says. */

import { readFile } from 'node:fs/promises';
import type { TransportName } from '../../../src/index.ts';
import { freePair, freePort } from '../../kit/free-port.ts';
import { type Folder, openFolder, startProgram } from './programs.ts';

export interface Sipp {
  readonly uri: string;
  readonly mediaPort: number;
  /** Resolves to the exit code: 0 when the scenario was followed. */
  readonly done: Promise<number | null>;
}

export interface CalleeOptions {
  readonly transport?: TransportName;
  /** What `@status@` in the scenario stands for. */
  readonly status?: string;
  readonly args?: readonly string[];
}

function start(folder: Folder, port: number, args: readonly string[]): Promise<number | null> {
  const common = `-i 127.0.0.1 -p ${port} -nostdin -timeout 25s -timeout_error -nd`.split(' ');
  const { done } = startProgram('sipp', [...args, ...common], { folder: folder.path });
  void done.then(() => folder[Symbol.asyncDispose]());
  return done;
}

/** Starts a callee for one call. It may not listen yet when this resolves. */
export async function startCallee(scenario: string, options: CalleeOptions = {}): Promise<Sipp> {
  const { transport = 'udp', status = '', args = [] } = options;
  const folder = await openFolder();
  const port = await freePort();
  const mediaPort = await freePair();
  const text = await readFile(new URL(`../scenarios/${scenario}.xml`, import.meta.url), 'utf8');
  const file = await folder.write('scenario.xml', text.replaceAll('@status@', status));
  const mode = transport === 'tcp' ? 't1' : 'u1';
  const own = `-sf ${file} -m 1 -t ${mode} -mi 127.0.0.1 -mp ${mediaPort}`.split(' ');
  const done = start(folder, port, [...own, ...args]);
  return { uri: `sip:bob@127.0.0.1:${port};transport=${transport}`, mediaPort, done };
}

/** Makes calls to `port` with SIPp's own caller; resolves to the exit code. */
export async function runCaller(port: number, args: readonly string[]): Promise<number | null> {
  return start(await openFolder(), await freePort(), ['-sn', 'uac', ...args, `127.0.0.1:${port}`]);
}
