/** How telephone trunks, and our own end of SIP, are written down: the keys `trunks` and `sip` of the settings file. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { phonePattern } from './schemas.ts';

const closed = { additionalProperties: false } as const;

const transports = ['udp', 'tcp', 'tls'] as const;
const port = (description: string, least = 1) =>
  Type.Integer({ minimum: least, maximum: 65_535, description });
const file = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, description });
const credential = (description: string) =>
  // No control characters: they would reach a header.
  Type.String({ minLength: 1, maxLength: 255, pattern: '^[^\\u0000-\\u001f\\u007f]*$', description });

const host = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 253,
    pattern: '^(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)$',
    description,
  });

const server = (description: string) =>
  Type.Object(
    {
      host: host('Host name, IPv4 address, or IPv6 address in brackets.'),
      port: Type.Optional(
        port('Without it a host name is looked up by SRV records, else it is the transport’s own port.'),
      ),
      transport: Type.Optional(
        enumeration(transports, { description: 'Without it SRV records decide, else it is UDP.' }),
      ),
    },
    { ...closed, description },
  );
export const TrunkServer = server('Where calls are sent.');
export type TrunkServer = Static<typeof TrunkServer>;

/** Codes that networks use with different meanings, and what each can be read as. */
export const TrunkProfile = Type.Object(
  {
    status_486: Type.Optional(
      enumeration(['busy', 'declined'], { description: 'What 486 means; `busy` by default.' }),
    ),
    status_603: Type.Optional(
      enumeration(['declined', 'busy', 'carrier_error'], {
        description: 'What 603 means; `declined` by default.',
      }),
    ),
    status_403: Type.Optional(
      enumeration(['carrier_error', 'declined'], {
        description: 'What 403 means; `carrier_error` by default.',
      }),
    ),
    transfer: Type.Optional(
      enumeration(['bridge', 'refer'], {
        description:
          'How a callee is connected with somebody else: by a second call of ours, through which we carry the sound ' +
          '(`bridge`, the default), or by a REFER that hands the call to the trunk.',
      }),
    ),
  },
  {
    ...closed,
    description: 'What is particular to this network: how its codes are read, and how it transfers.',
  },
);
export type TrunkProfile = Static<typeof TrunkProfile>;

export const Trunk = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
      description: 'Lower-case letters, digits and hyphens, at most 40; appears in logs.',
    }),
    proxy: TrunkServer,
    registrar: Type.Optional(server('Where we register; only for trunks that want that.')),
    credentials: Type.Optional(
      Type.Object(
        {
          username: credential('Name for digest authentication, and of the registered address.'),
          password: credential('`${NAME}` takes it from the environment.'),
        },
        { ...closed, description: 'Our account; without it the trunk knows us by our address.' },
      ),
    ),
    domain: Type.Optional(
      host('The domain of our addresses; the host of the registrar, or of the proxy, by default.'),
    ),
    caller_numbers: Type.Array(Type.String({ pattern: phonePattern, description: 'canonical E.164' }), {
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
      description: 'Numbers that calls may show, E.164; the first is the default.',
    }),
    caller_id: Type.Optional(
      enumeration(['from', 'p_asserted_identity'], {
        description: 'The header that carries the caller’s number; `from` by default.',
      }),
    ),
    codecs: Type.Optional(
      Type.Array(enumeration(['PCMU', 'PCMA']), {
        minItems: 1,
        maxItems: 2,
        uniqueItems: true,
        description: 'In order of preference; both by default.',
      }),
    ),
    srtp: Type.Optional(
      enumeration(['never', 'optional', 'required'], {
        description:
          'Encryption of the audio; `never` by default. `required` never falls back to clear audio.',
      }),
    ),
    calls_per_second: Type.Number({
      minimum: 0.1,
      maximum: 1_000,
      description: 'Calls begun per second over all processes.',
    }),
    max_calls: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Calls at once over all processes.',
    }),
    countries: Type.Optional(
      Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
        maxItems: 250,
        uniqueItems: true,
        description: 'ISO 3166-1 alpha-2 countries whose ordinary numbers may be called.',
      }),
    ),
    allow_prefixes: Type.Optional(
      Type.Array(Type.String({ pattern: '^\\+[1-9]\\d{0,14}$' }), {
        maxItems: 1_000,
        uniqueItems: true,
        description: 'Beginnings of numbers that may be called whatever they cost, such as +8816.',
      }),
    ),
    inbound: Type.Optional(
      Type.Array(Type.String({ maxLength: 50 }), {
        maxItems: 100,
        uniqueItems: true,
        description: 'Addresses or CIDR blocks that may call in.',
      }),
    ),
    inbound_country: Type.Optional(
      Type.String({
        pattern: '^[A-Z]{2}$',
        description:
          'ISO 3166-1 alpha-2: how national numbers in calls that come in are read; without it only E.164 is, with or without +.',
      }),
    ),
    profile: Type.Optional(TrunkProfile),
    rates: Type.Optional(
      Type.Array(
        Type.Object(
          {
            prefix: Type.String({
              pattern: '^\\+\\d{0,15}$',
              description: 'Beginning of a number; `+` is all.',
            }),
            per_minute: Type.Number({
              minimum: 0,
              maximum: 10_000,
              description: 'In the currency of the spend cap.',
            }),
          },
          closed,
        ),
        {
          maxItems: 10_000,
          description: 'What calls cost, for the spend cap. The longest fitting prefix counts.',
        },
      ),
    ),
    send_attempt_id: Type.Optional(
      Type.Boolean({ description: 'Send our attempt id as X-Trunkcall-Attempt; `false` by default.' }),
    ),
    first_response_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 30,
        description: 'Without any response for so long a call goes to the next trunk; 6 by default.',
      }),
    ),
    keepalive_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 3_600,
        description: 'Between OPTIONS requests that ask whether the trunk is up; 30 by default, 0 asks none.',
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          ca_file: Type.Optional(
            file('PEM file of the authorities that vouch for the proxy; the system’s by default.'),
          ),
          certificate_file: Type.Optional(file('PEM file of our certificate, if the proxy asks for one.')),
          key_file: Type.Optional(file('PEM file of its key.')),
        },
        {
          ...closed,
          description: 'For the transport `tls`. The certificate of the server is always verified.',
        },
      ),
    ),
  },
  { ...closed, $id: 'Trunk', description: 'A route into the telephone network.' },
);
export type Trunk = Static<typeof Trunk>;

export const SipSettings = Type.Object(
  {
    bind: Type.Optional(
      Type.String({
        maxLength: 50,
        description: 'IP address of this machine for signalling and audio. Needed with trunks.',
      }),
    ),
    udp_port: Type.Optional(port('5060 by default; 0 takes any free port.', 0)),
    tcp_port: Type.Optional(port('5060 by default; 0 takes any free port.', 0)),
    tls_port: Type.Optional(port('5061 by default; used with `tls`. 0 takes any free port.', 0)),
    public_address: Type.Optional(
      Type.String({
        maxLength: 50,
        description: 'IP address that trunks see, behind NAT or with `bind: 0.0.0.0`.',
      }),
    ),
    media_ports: Type.Optional(
      Type.Object(
        {
          first: Type.Integer({ minimum: 1_024, maximum: 65_535, description: 'First UDP port.' }),
          last: Type.Integer({ minimum: 1_024, maximum: 65_535, description: 'Last UDP port.' }),
        },
        { ...closed, description: 'Ports for audio, two a call; 16384 to 32767 by default.' },
      ),
    ),
    media_silence_seconds: Type.Optional(
      Type.Integer({
        minimum: 5,
        maximum: 600,
        description: 'A call from which no audio comes for so long is ended; 30 by default.',
      }),
    ),
    tls: Type.Optional(
      Type.Object(
        {
          certificate_file: file('PEM file of our certificate.'),
          key_file: file('PEM file of its key.'),
        },
        { ...closed, description: 'Lets trunks call in over TLS.' },
      ),
    ),
  },
  { ...closed, $id: 'SipSettings', description: 'Our own end of SIP.' },
);
export type SipSettings = Static<typeof SipSettings>;
