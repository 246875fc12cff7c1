/** People who call in over a trunk, played by SIPp: it ends with 0 when the call went to the letter. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface CallerOptions {
  /** Where our SIP listens. */
  readonly port: number;
  /** The user part of what is dialled. */
  readonly to: string;
  /** The caller's address; one of an ordinary number by default. */
  readonly from?: string;
  readonly headers?: readonly string[];
  /** What tells the call apart; the same in copies of one call. */
  readonly call?: string;
  readonly steps: readonly Step[];
}

export type Step =
  | { readonly send: 'INVITE' | 'ACK' | 'BYE' | 'CANCEL' | 'OK' }
  | {
      readonly receive: number | 'BYE';
      /** May be left out. */
      readonly optional?: boolean;
      /** The call is over when this comes. */
      readonly last?: boolean;
      /** A header that must have such a value. */
      readonly header?: readonly [name: string, pattern: string];
    }
  | { readonly pauseMs: number };

/** What comes before the answer. */
const early: readonly Step[] = [
  { receive: 100, optional: true },
  { receive: 180, optional: true },
];
export const untilAnswered: readonly Step[] = [
  { send: 'INVITE' },
  ...early,
  { receive: 200 },
  { send: 'ACK' },
];
export const refusedWith = (status: number, header?: readonly [string, string]): readonly Step[] => [
  { send: 'INVITE' },
  { receive: 100, optional: true },
  { receive: status, ...(header === undefined ? {} : { header }) },
];
export const hangUp: readonly Step[] = [{ send: 'BYE' }, { receive: 200 }];

/** Makes one call; resolves to SIPp's exit code. */
export async function callIn(options: CallerOptions): Promise<number | null> {
  const folder = await mkdtemp(join(tmpdir(), 'trunkcall-sipp-'));
  const file = join(folder, 'scenario.xml');
  const { call = randomBytes(8).toString('hex'), port } = options;
  await writeFile(file, scenario({ ...options, call }));
  const local = ['-i', '127.0.0.1', '-cid_str', call, '-m', '1', '-nostdin', '-nd'];
  const limits = ['-timeout', '30s', '-timeout_error', '-recv_timeout', '20000'];
  const child = spawn('sipp', ['-sf', file, ...local, ...limits, `127.0.0.1:${port}`], {
    stdio: 'ignore',
    cwd: folder,
    env: { ...process.env, TERM: 'dumb' },
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  await rm(folder, { recursive: true, force: true });
  return code;
}

function scenario(options: CallerOptions & { readonly call: string }): string {
  const steps = options.steps.map((step) => {
    if ('pauseMs' in step) return `<pause milliseconds="${step.pauseMs}"/>`;
    if ('send' in step) return `<send><![CDATA[\n${request(step.send, options)}\n]]></send>`;
    const { receive, optional = false, last = false, header } = step;
    const kind = receive === 'BYE' ? 'request="BYE"' : `response="${receive}" rrs="true"`;
    const check =
      header === undefined
        ? ''
        : `<action><ereg regexp="${header[1]}" search_in="hdr" header="${header[0]}:" check_it="true" assign_to="1"/></action>`;
    const how = `${optional ? ' optional="true"' : ''}${last ? ' next="9"' : ''}`;
    return `<recv ${kind}${how}>${check}</recv>`;
  });
  const uses = options.steps.some((step) => 'header' in step) ? '<Reference variables="1"/>' : '';
  return `<?xml version="1.0" encoding="UTF-8" ?>\n<scenario name="caller">\n${steps.join('\n')}\n<label id="9"/>\n${uses}</scenario>\n`;
}

function request(
  method: 'INVITE' | 'ACK' | 'BYE' | 'CANCEL' | 'OK',
  {
    to,
    from = '<sip:+12125550199@127.0.0.1>',
    headers = [],
    call,
  }: CallerOptions & { readonly call: string },
): string {
  if (method === 'OK') {
    return [
      'SIP/2.0 200 OK',
      '[last_Via:]',
      '[last_From:]',
      '[last_To:]',
      '[last_Call-ID:]',
      '[last_CSeq:]',
      'Content-Length: 0',
      '',
    ].join('\n');
  }
  const inDialog = method === 'ACK' || method === 'BYE';
  const uri = inDialog ? '[next_url]' : `sip:${to}@[remote_ip]:[remote_port]`;
  // Copies of one call differ in their branch: each came over a way of its own.
  const branch = inDialog ? '[branch]' : `z9hG4bK-${call}-[pid]`;
  const lines = [
    `${method} ${uri} SIP/2.0`,
    `Via: SIP/2.0/[transport] [local_ip]:[local_port];branch=${branch}`,
    `From: ${from};tag=${call}`,
    `To: <sip:${to}@[remote_ip]:[remote_port]>${inDialog ? '[peer_tag_param]' : ''}`,
    'Call-ID: [call_id]',
    `CSeq: ${method === 'BYE' ? 2 : 1} ${method}`,
    'Contact: <sip:caller@[local_ip]:[local_port]>',
    'Max-Forwards: 70',
    ...headers,
  ];
  if (method !== 'INVITE') return [...lines, 'Content-Length: 0', ''].join('\n');
  return [...lines, 'Content-Type: application/sdp', 'Content-Length: [len]', '', ...offer, ''].join('\n');
}

const offer = [
  'v=0',
  'o=sipp 1 1 IN IP4 127.0.0.1',
  's=-',
  'c=IN IP4 127.0.0.1',
  't=0 0',
  'm=audio [media_port] RTP/AVP 0 101',
  'a=rtpmap:0 PCMU/8000',
  'a=rtpmap:101 telephone-event/8000',
];
