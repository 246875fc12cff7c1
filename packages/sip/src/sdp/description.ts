/** Session descriptions (RFC 8866): parse and write. Only the fields that telephony uses are typed. */

import { singleLine } from '../message/grammar.ts';

export interface Attribute {
  readonly name: string;
  readonly value?: string | undefined;
}

export interface Origin {
  readonly sessionId: string;
  readonly version: number;
  /** IPv4 or IPv6, no brackets. */
  readonly address: string;
}

export interface MediaDescription {
  readonly kind: string;
  /** 0 refuses the stream (RFC 3264 §6). */
  readonly port: number;
  readonly protocol: string;
  readonly formats: readonly string[];
  /** Undefined when the session's connection line counts. */
  readonly address?: string | undefined;
  readonly attributes: readonly Attribute[];
}

export interface SessionDescription {
  readonly origin: Origin;
  readonly address?: string | undefined;
  readonly attributes: readonly Attribute[];
  readonly media: readonly MediaDescription[];
}

const MAX_LINES = 1_000;
const MAX_MEDIA = 32;

/** Never throws; undefined for what is no session description or exceeds 1,000 lines or 32 streams. */
export function parseDescription(text: string): SessionDescription | undefined {
  const lines = text.split(/\r?\n/).filter((line) => line !== '');
  if (lines.length > MAX_LINES || lines[0] !== 'v=0') return undefined;
  const [session = [], ...sections] = splitSections(lines);
  const origin = parseOrigin(valueOf(session, 'o'));
  const connection = parseConnection(valueOf(session, 'c'));
  if (origin === undefined || connection === undefined || sections.length > MAX_MEDIA) return undefined;
  const media: MediaDescription[] = [];
  for (const section of sections) {
    const parsed = parseMedia(section);
    if (parsed === undefined) return undefined;
    media.push(parsed);
  }
  return { origin, address: connection.address, attributes: parseAttributes(session), media };
}

/** The session's lines, then one group for each `m=` line. */
function splitSections(lines: readonly string[]): string[][] {
  const sections: string[][] = [[]];
  for (const line of lines) {
    if (line.startsWith('m=')) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections;
}

function valueOf(lines: readonly string[], type: string): string | undefined {
  return lines.find((line) => line.startsWith(`${type}=`))?.slice(2);
}

function parseOrigin(value: string | undefined): Origin | undefined {
  const match = /^\S+ (\d+) (\d+) IN IP[46] (\S+)\s*$/.exec(value ?? '');
  if (match === null) return undefined;
  return { sessionId: match[1] ?? '', version: Number(match[2]), address: match[3] ?? '' };
}

/** Undefined for a malformed line; an absent one has no address. */
function parseConnection(value: string | undefined): { readonly address?: string | undefined } | undefined {
  if (value === undefined) return {};
  // A multicast address may carry `/ttl`; telephony has none, the plain address counts.
  const match = /^IN IP[46] ([^\s/]+)(?:\/\S+)?\s*$/.exec(value);
  return match === null ? undefined : { address: match[1] };
}

function parseMedia(lines: readonly string[]): MediaDescription | undefined {
  const match = /^m=(\S+) (\d{1,5})(?:\/\d+)? (\S+)((?: \S+)+)\s*$/.exec(lines[0] ?? '');
  const connection = parseConnection(valueOf(lines, 'c'));
  const port = Number(match?.[2]);
  if (match === null || connection === undefined || port > 65_535) return undefined;
  return {
    kind: match[1] ?? '',
    port,
    protocol: match[3] ?? '',
    formats: (match[4] ?? '').trim().split(' '),
    address: connection.address,
    attributes: parseAttributes(lines),
  };
}

function parseAttributes(lines: readonly string[]): Attribute[] {
  return lines
    .filter((line) => line.startsWith('a='))
    .map((line) => {
      const colon = line.indexOf(':');
      return colon < 0
        ? { name: line.slice(2) }
        : { name: line.slice(2, colon), value: line.slice(colon + 1) };
    });
}

/** Throws `UnsafeTextError` when a value has a line break. */
export function writeDescription(description: SessionDescription): string {
  const { origin, address = origin.address } = description;
  const lines = [
    'v=0',
    `o=- ${origin.sessionId} ${origin.version} ${network(origin.address)}`,
    's=-',
    `c=${network(address)}`,
    't=0 0',
    ...description.attributes.map(writeAttribute),
  ];
  for (const media of description.media) {
    lines.push(`m=${media.kind} ${media.port} ${media.protocol} ${media.formats.join(' ')}`);
    if (media.address !== undefined) lines.push(`c=${network(media.address)}`);
    lines.push(...media.attributes.map(writeAttribute));
  }
  return `${lines.map((line) => singleLine(line, 'a session description line')).join('\r\n')}\r\n`;
}

function network(address: string): string {
  return `IN IP${address.includes(':') ? 6 : 4} ${address}`;
}

function writeAttribute({ name, value }: Attribute): string {
  return value === undefined ? `a=${name}` : `a=${name}:${value}`;
}

export function attribute(media: MediaDescription, name: string): string | undefined {
  return media.attributes.find((candidate) => candidate.name === name)?.value;
}

export function attributes(media: MediaDescription, name: string): string[] {
  return media.attributes.flatMap((candidate) =>
    candidate.name === name && candidate.value !== undefined ? [candidate.value] : [],
  );
}

export function hasAttribute(media: MediaDescription, name: string): boolean {
  return media.attributes.some((candidate) => candidate.name === name);
}
