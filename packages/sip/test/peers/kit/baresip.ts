/** baresip as a phone that answers by itself, says a recording, and records what it hears. */

import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { SERVER_TLS } from '../../kit/agents.ts';
import { freePair, freePort } from '../../kit/free-port.ts';
import { openFolder, startProgram, untilReady } from './programs.ts';
import { readMonoWavFrom, writeMonoWav } from './wav.ts';

const RATE = 8_000;
/** Silence behind what it says, seconds: it stops sending at the end of its file. */
const AFTERWARDS = 3;
const AFTER_SAYING = 30;

export interface BaresipOptions {
  /** What it says, at 8 kHz. Three seconds of silence follow. */
  readonly speech: Int16Array;
  readonly transport?: 'udp' | 'tcp' | 'tls';
  /** Only encrypted calls. */
  readonly srtp?: boolean;
  /** The user part of its address. Default `bob`. */
  readonly user?: string;
}

export interface Baresip extends AsyncDisposable {
  /** The URI to call. */
  readonly uri: string;
  readonly port: number;
  /** What happened there, such as `CALL_DTMF_START 5`. */
  readonly events: readonly string[];
  /** Gives a command of its menu (`hold`, `resume`, `dial sip:…`). */
  command(name: string, params?: string): void;
  /** Says something now, in place of what it was saying; for a call that is up. Resolves when it has begun. */
  say(speech: Int16Array): Promise<void>;
  /** What it heard in its call from a sample on; of a call that is up, as far as it was written down. */
  heard(from?: number): Promise<Int16Array>;
}

function configuration(port: number, control: number, folder: string): string {
  return `poll_method epoll
sip_listen 127.0.0.1:${port}
sip_certificate ${folder}/certificate.pem
audio_player aubridge,sink
audio_source aufile,${folder}/speech.wav
audio_alert aubridge,alert
ausrc_srate 8000
auplay_srate 8000
ausrc_channels 1
auplay_channels 1
net_interface 127.0.0.1
module_path /usr/lib/baresip/modules
module g711.so
module aufile.so
module aubridge.so
module sndfile.so
module srtp.so
module_tmp account.so
module_app menu.so
module_app ctrl_tcp.so
ctrl_tcp_listen 127.0.0.1:${control}
snd_path ${folder}
`;
}

/** Its answer to a command, or an event, as a netstring. */
interface Told {
  readonly event?: boolean;
  readonly type?: string;
  readonly param?: string;
}

function* takeNetstrings(text: string): Generator<{ readonly told: Told; readonly rest: string }> {
  for (;;) {
    const [head = ''] = /^\d+:/.exec(text) ?? [];
    const end = head.length + Number.parseInt(head, 10);
    // Lengths are in bytes; what it tells is ASCII.
    if (head === '' || text.length <= end) return;
    const told = JSON.parse(text.slice(head.length, end)) as Told;
    text = text.slice(end + 1);
    yield { told, rest: text };
  }
}

function recorded(speech: Int16Array, silentSeconds: number): Buffer {
  const samples = new Int16Array(speech.length + silentSeconds * RATE);
  samples.set(speech);
  return writeMonoWav({ rate: RATE, samples });
}

export async function startBaresip(options: BaresipOptions): Promise<Baresip> {
  const { speech, transport = 'udp', srtp = false, user = 'bob' } = options;
  const folder = await openFolder();
  // Over TLS it listens on the next port.
  const port = await freePair();
  const control = await freePort();
  const address = `127.0.0.1:${transport === 'tls' ? port + 1 : port};transport=${transport}`;
  const encryption = srtp ? ';mediaenc=srtp-mand' : '';
  await folder.write('config', configuration(port, control, folder.path));
  await folder.write(
    'accounts',
    `<sip:${user}@${address}>;regint=0;answermode=auto;audio_codecs=PCMU/8000/1${encryption}\n`,
  );
  await folder.write('contacts', '');
  await folder.write('certificate.pem', `${SERVER_TLS.key}${SERVER_TLS.certificate}`);
  await folder.write('speech.wav', recorded(speech, AFTERWARDS));
  const program = startProgram('baresip', ['-f', folder.path], { folder: folder.path });
  await untilReady(program, 'baresip', () => program.output().includes('baresip is ready'));

  const socket: Socket = connect(control, '127.0.0.1');
  await once(socket, 'connect');
  const events: string[] = [];
  let waiting = '';
  socket.on('error', () => undefined);
  socket.on('data', (bytes: Buffer) => {
    waiting += bytes.toString();
    for (const { told, rest } of takeNetstrings(waiting)) {
      if (told.event === true) events.push(`${told.type ?? ''} ${told.param ?? ''}`.trim());
      waiting = rest;
    }
  });
  let said = 0;
  const command = (name: string, params = ''): void => {
    const text = JSON.stringify({ command: name, params });
    socket.write(`${text.length}:${text},`);
  };
  return {
    uri: `sip:${user}@${address}`,
    port,
    events,
    command,
    async say(words) {
      said += 1;
      const file = await folder.write(`said-${said}.wav`, recorded(words, AFTER_SAYING));
      command('ausrc', `aufile,${file}`);
    },
    async heard(from = 0) {
      const name = (await readdir(folder.path)).find((file) => file.endsWith('-dec.wav'));
      if (name === undefined) throw new Error('baresip recorded nothing');
      return readMonoWavFrom(`${folder.path}/${name}`, from);
    },
    async [Symbol.asyncDispose]() {
      socket.destroy();
      await program[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
