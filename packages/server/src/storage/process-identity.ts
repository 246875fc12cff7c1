/**
 * Names a process so that another one can find out later whether it still runs. A pid alone is not enough: it
 * is used again after a reboot, after a while, and in every container.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** The last three come from Linux' /proc and are null elsewhere. */
export interface ProcessIdentity {
  readonly host: string;
  readonly pid: number;
  readonly bootId: string | null;
  readonly pidNamespace: string | null;
  /** Clock ticks after boot. */
  readonly startedAt: string | null;
}

export function ownIdentity(): ProcessIdentity {
  return {
    host: hostname(),
    pid: process.pid,
    bootId: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    pidNamespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    startedAt: processStat(process.pid)?.startedAt ?? null,
  };
}

/**
 * True or false when the process table of this machine can tell, undefined when it cannot: another machine,
 * another container, or a pid that lives but may belong to somebody else by now.
 */
export function isProcessAlive(identity: ProcessIdentity): boolean | undefined {
  const own = ownIdentity();
  if (own.bootId === null || own.pidNamespace === null) {
    return identity.host !== own.host || pidExists(identity.pid) ? undefined : false;
  }
  if (identity.bootId !== own.bootId || identity.pidNamespace !== own.pidNamespace) return undefined;
  const stat = processStat(identity.pid);
  return stat !== undefined && stat.startedAt === identity.startedAt && !stat.ended;
}

function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}

/** proc(5): the state is the 1st and the start time the 20th field behind the name in parentheses. */
function processStat(pid: number): { startedAt: string; ended: boolean } | undefined {
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  const startedAt = fields?.[19];
  if (startedAt === undefined) return undefined;
  return { startedAt, ended: fields?.[0] === 'Z' || fields?.[0] === 'X' };
}

function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
