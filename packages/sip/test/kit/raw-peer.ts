/** A SIP peer without manners: a UDP socket that says exactly what a test tells it to, and nothing by itself. */

import { createSocket, type Socket } from 'node:dgram';
import { withTag } from '../../src/message/address.ts';
import { Headers, type HeaderLine } from '../../src/message/headers.ts';
import { responseTo, type SipMessage, type SipRequest, type SipResponse } from '../../src/message/message.ts';
import { parseMessage } from '../../src/message/parse.ts';
import { writeMessage } from '../../src/message/write.ts';
import { until } from './agents.ts';
import { label } from './tapped-network.ts';

export const PEER_SDP =
  'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 55000 RTP/AVP 0\r\n';

export class RawPeer implements AsyncDisposable {
  readonly received: SipMessage[] = [];
  readonly #socket: Socket;
  /** Called for each message; a peer without it only listens. */
  onMessage: (message: SipMessage) => void = () => undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('message', (bytes, { port }) => {
      const outcome = parseMessage(bytes);
      if (outcome.kind !== 'parsed') return;
      this.lastPort = port;
      this.received.push(outcome.message);
      this.onMessage(outcome.message);
    });
  }

  /** Where the latest message came from: answers go there. */
  lastPort = 0;

  static async open(): Promise<RawPeer> {
    const socket = createSocket('udp4');
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    return new RawPeer(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  get contact(): HeaderLine {
    return ['Contact', `<sip:peer@127.0.0.1:${this.port}>`];
  }

  uri(user: string): string {
    return `sip:${user}@127.0.0.1:${this.port}`;
  }

  send(data: SipMessage | string, port = this.lastPort): void {
    this.#socket.send(typeof data === 'string' ? data : writeMessage(data), port, '127.0.0.1');
  }

  /** Answers with a To tag, a Contact and, when asked, a session description. */
  answer(
    request: SipRequest,
    status: number,
    more: { tag?: string; lines?: readonly HeaderLine[]; sdp?: string } = {},
  ): SipResponse {
    const { tag = 'peer', lines = [], sdp } = more;
    const headers = Headers.from([
      this.contact,
      ...lines,
      ...(sdp === undefined ? [] : ([['Content-Type', 'application/sdp']] as const)),
    ]);
    const response = responseTo(request, status, {
      toTag: tag,
      headers,
      ...(sdp === undefined ? {} : { body: Buffer.from(sdp) }),
    });
    this.send(response);
    return response;
  }

  /** A request that the peer makes up: `to` may carry a tag. */
  request(
    method: string,
    to: string,
    more: {
      toTag?: string;
      callId?: string;
      cseq?: number;
      lines?: readonly HeaderLine[];
      sdp?: string;
      branch?: string;
    } = {},
  ): SipRequest {
    const {
      callId = 'raw',
      cseq = 1,
      lines = [],
      sdp = '',
      branch = `z9hG4bK${method}${cseq}${callId}`,
    } = more;
    const text = [
      `${method} ${to} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${this.port};branch=${branch};rport`,
      'From: <sip:peer@127.0.0.1>;tag=raw',
      `To: <${to}>`,
      `Call-ID: ${callId}`,
      `CSeq: ${cseq} ${method}`,
      `Contact: <sip:peer@127.0.0.1:${this.port}>`,
      ...lines.map(([name, value]) => `${name}: ${value}`),
      ...(sdp === '' ? [] : ['Content-Type: application/sdp']),
      '',
      sdp,
    ].join('\r\n');
    const outcome = parseMessage(Buffer.from(text));
    if (outcome.kind !== 'parsed' || outcome.message.kind !== 'request')
      throw new Error('the test wrote no request');
    const { message } = outcome;
    return more.toTag === undefined ? message : { ...message, to: withTag(message.to, more.toTag) };
  }

  /** What came, in short and in order, repetitions left out. */
  log(): string[] {
    return this.received.map(label).filter((text, at, all) => text !== all[at - 1]);
  }

  async until(text: string): Promise<SipMessage> {
    await until(
      () => this.received.some((message) => label(message) === text),
      `${text} at the raw peer; it has ${this.log().join(', ')}`,
    );
    const found = this.received.findLast((message) => label(message) === text);
    if (found === undefined) throw new Error(text);
    return found;
  }

  /** Waits for a request. */
  async untilRequest(method: string): Promise<SipRequest> {
    return (await this.until(method)) as SipRequest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}
