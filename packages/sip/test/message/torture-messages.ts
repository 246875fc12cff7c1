/**
 * The 49 cases of RFC 4475, written from its descriptions: what each one tests is the RFC's, names and all; the
 * texts are ours.
 *
 * `parse` says what the parser makes of it. `answer` is what a user agent says to a request that parses: our
 * agent is no proxy and no registrar, so it refuses much that the RFC calls valid.
 */
export interface TortureCase {
  readonly name: string;
  /** Section of RFC 4475. */
  readonly section: string;
  readonly raw: Buffer;
  readonly parse: 'parsed' | 'dropped' | number;
  readonly answer?: number;
}

const SDP = [
  'v=0',
  'o=caller 29739 7272939 IN IP4 192.0.2.3',
  's=-',
  'c=IN IP4 192.0.2.4',
  't=0 0',
  'm=audio 49217 RTP/AVP 0 12',
  'a=rtpmap:31 LPC',
  '',
].join('\r\n');

interface Parts {
  readonly start: string;
  readonly to?: string;
  readonly from?: string;
  readonly callId: string;
  readonly cseq: string;
  readonly via?: string;
  readonly more?: readonly string[];
  readonly body?: string;
  readonly length?: string;
}

/** A message of ordinary shape; each case deviates where it must. */
function message(parts: Parts): Buffer {
  const { body = '', length = `Content-Length: ${Buffer.byteLength(body)}` } = parts;
  const lines = [
    parts.start,
    parts.to ?? 'To: <sip:watson@example.com>',
    parts.from ?? 'From: <sip:bell@example.org>;tag=3s4',
    `Call-ID: ${parts.callId}`,
    `CSeq: ${parts.cseq}`,
    parts.via ?? `Via: SIP/2.0/UDP host.example.com:5060;branch=z9hG4bK${parts.callId}`,
    ...(parts.more ?? ['Max-Forwards: 70']),
    ...(length === '' ? [] : [length]),
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

const CONTACT = 'Contact: <sip:bell@host.example.org>';

function invite(name: string, more: Partial<Parts> = {}): Buffer {
  return message({
    start: 'INVITE sip:watson@example.com SIP/2.0',
    callId: `${name}.7fh2k`,
    cseq: '8 INVITE',
    more: ['Max-Forwards: 70', CONTACT, 'Content-Type: application/sdp'],
    body: SDP,
    ...more,
  });
}

function options(name: string, more: Partial<Parts> = {}): Buffer {
  return message({
    start: 'OPTIONS sip:watson@example.com SIP/2.0',
    callId: `${name}.7fh2k`,
    cseq: '8 OPTIONS',
    ...more,
  });
}

function register(name: string, contact: string, more: Partial<Parts> = {}): Buffer {
  return message({
    start: 'REGISTER sip:example.com SIP/2.0',
    callId: `${name}.7fh2k`,
    cseq: '8 REGISTER',
    more: ['Max-Forwards: 70', contact],
    ...more,
  });
}

const LONG = 'long'.repeat(60);

/** A text part, then a signature whose bytes look like line ends and the end of headers. */
const BINARY_BODY = Buffer.concat([
  Buffer.from('--7a9cbec02ceef655\r\nContent-Type: text/plain\r\n\r\nHi\r\n--7a9cbec02ceef655\r\n'),
  Buffer.from([0x30, 0x82, 0x00, 0xff, 0x0d, 0x0a, 0x0d, 0x0a, 0x80, 0x00]),
]);

export const TORTURE: readonly TortureCase[] = [
  {
    name: 'wsinv',
    section: '3.1.1.1',
    parse: 'parsed',
    // It claims a dialog that does not exist.
    answer: 481,
    raw: Buffer.from(
      [
        'INVITE sip:watson@switch.example.com;unknownparam SIP/2.0',
        'TO :',
        ' sip:watson@switch.example.com ;   tag    = 1918181833n',
        'from   : "A Bell \\\\\\""       <sip:bell@example.com>',
        '  ;',
        '  tag = 98asjd8',
        'MaX-fOrWaRdS: 0068',
        'Call-ID: wsinv.ndaksdj@192.0.2.1',
        `Content-Length   : ${SDP.length}`,
        'cseq: 0009',
        '  INVITE',
        'Via  : SIP  /   2.0',
        ' /UDP',
        '    192.0.2.2;branch=390skdjuw',
        's :',
        'NewFangledHeader:   newfangled value',
        ' continued newfangled value',
        'UnknownHeaderWithUnusualValue: ;;,,;;,;',
        'Content-Type: application/sdp',
        'Route:',
        ' <sip:services.example.com;lr;unknownwith=value;unknown-no-value>',
        'v:  SIP  / 2.0  / TCP     spindle.example.com   ;',
        '  branch  =   z9hG4bK9ikj8  ,',
        ' SIP  /    2.0   / UDP  192.168.255.111   ; branch=',
        ' z9hG4bK30239',
        'm:"Quoted string \\"\\"" <sip:bell@example.com> ; newparam =',
        '      newvalue ;',
        '  secondparam ; q = 0.33',
        '',
        SDP,
      ].join('\r\n'),
    ),
  },
  {
    name: 'intmeth',
    section: '3.1.1.2',
    parse: 'parsed',
    answer: 405,
    raw: message({
      start:
        "!interesting-Method0123456789_*+`.%indeed'~ sip:1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*:&it+has=1,weird!*pas$wo~d_too.(doesn't-it)@example.com SIP/2.0",
      via: "Via: SIP/2.0/TCP host1.example.com;branch=z9hG4bK-.!%66*_+`'~",
      to: 'To: "BEL:\\\u0007 NUL:\\\u0000 DEL:\\\u007f" <sip:1_unusual.URI~(to-be!sure)&isn\'t+it$/crazy?,/;;*@example.com>',
      from: "From: token1~` token2'+_ token3*%!.- <sip:mundane@example.com>;fromParam''~+*_!.-%=\"\u0440\u0430\u0431\u043e\u0442\u0430\";tag=_token~1'+`*%!-.",
      callId: 'intmeth.word%ZK-!.*_+\'@word`~)(><:\\/"][?}{',
      cseq: "139122385 !interesting-Method0123456789_*+`.%indeed'~",
      more: ['Max-Forwards: 255', "extensionHeader-!.%*+_`'~:\ufeff\u5927\u505c\u96fb"],
    }),
  },
  {
    name: 'esc01',
    section: '3.1.1.3',
    parse: 'parsed',
    raw: invite('esc01', {
      start: 'INVITE sip:sips%3Auser%40example.com@example.net SIP/2.0',
      to: 'To: sip:%75se%72@example.com',
      from: 'From: <sip:I%20have%20spaces@example.net>;tag=938',
      more: [
        'Max-Forwards: 87',
        'Contact: <sip:cal%6Cer@host5.example.net;%6C%72;n%61me=v%61lue%25%34%31>',
        'C: application/sdp',
      ],
    }),
  },
  {
    name: 'escnull',
    section: '3.1.1.4',
    parse: 'parsed',
    answer: 405,
    raw: register(
      'escnull',
      'Contact: <sip:%00@host5.example.com>\r\nContact: <sip:%00%00@host5.example.com>',
      {
        to: 'To: sip:null-%00-null@example.com',
        from: 'From: sip:null-%00-null@example.com;tag=839923423',
      },
    ),
  },
  {
    name: 'esc02',
    section: '3.1.1.5',
    parse: 'parsed',
    answer: 405,
    raw: message({
      start: 'RE%47IST%45R sip:registrar.example.com SIP/2.0',
      to: 'To: "%Z%45" <sip:resource@example.com>',
      from: 'From: "%Z%45" <sip:resource@example.com>;tag=f232jadfj23',
      callId: 'esc02.asdf',
      cseq: '29344 RE%47IST%45R',
      more: [
        'Max-Forwards: 70',
        'Contact: <sip:alias1@host1.example.com>',
        'C%6Fntact: <sip:alias2@host2.example.com>',
      ],
    }),
  },
  {
    name: 'lwsdisp',
    section: '3.1.1.6',
    parse: 'parsed',
    answer: 200,
    raw: options('lwsdisp', { from: 'From: caller<sip:caller@example.com>;tag=323' }),
  },
  {
    name: 'longreq',
    section: '3.1.1.7',
    parse: 'parsed',
    answer: 481,
    raw: invite('longreq', {
      to: `To: "I have a user name of ${LONG}" <sip:user@example.com:6000;unknownparam1=very${LONG}value;longparam${LONG}name=shortvalue>;tag=3892342`,
      from: `From: sip:user@example.org;tag=12982982982;longparam${LONG}=${LONG}`,
      callId: `longreq.one${'really'.repeat(30)}longcallid`,
      cseq: '3882340 INVITE',
      via: Array.from(
        { length: 34 },
        (_, n) => `Via: SIP/2.0/TCP sip${n}.example.com;branch=z9hG4bK${n}`,
      ).join('\r\n'),
      more: [
        `Unknown-${LONG}-Name: unknown-${LONG}-value; unknown-${LONG}-param`,
        CONTACT,
        'Content-Type: application/sdp',
      ],
    }),
  },
  {
    name: 'dblreq',
    section: '3.1.1.8',
    parse: 'parsed',
    raw: Buffer.concat([
      register('dblreq', 'Contact: <sip:j.user@host.example.com>'),
      Buffer.from('\r\n\r\n'),
      invite('dblreq'),
    ]),
  },
  {
    name: 'semiuri',
    section: '3.1.1.9',
    parse: 'parsed',
    answer: 200,
    raw: options('semiuri', { start: 'OPTIONS sip:user;par=u%40example.net@example.com SIP/2.0' }),
  },
  {
    name: 'transports',
    section: '3.1.1.10',
    parse: 'parsed',
    answer: 200,
    raw: options('transports', {
      via: ['UDP', 'SCTP', 'TLS', 'UNKNOWN', 'TCP']
        .map((name, n) => `Via: SIP/2.0/${name} t${n}.example.com;branch=z9hG4bKkdjuw${n}`)
        .join('\r\n'),
    }),
  },
  {
    name: 'mpart01',
    section: '3.1.1.11',
    parse: 'parsed',
    answer: 405,
    raw: Buffer.concat([
      message({
        start: 'MESSAGE sip:watson@example.com SIP/2.0',
        callId: 'mpart01.x',
        cseq: '127 MESSAGE',
        more: ['Max-Forwards: 70', 'Content-Type: multipart/mixed;boundary=7a9cbec02ceef655'],
        length: `l: ${BINARY_BODY.length}`,
      }),
      BINARY_BODY,
    ]),
  },
  {
    name: 'unreason',
    section: '3.1.1.12',
    parse: 'parsed',
    raw: message({
      start: 'SIP/2.0 200 = 2**3 * 5**2 \u043d\u043e \u0441\u0442\u043e',
      callId: 'unreason.x',
      cseq: '35 INVITE',
      more: [CONTACT],
    }),
  },
  {
    name: 'noreason',
    section: '3.1.1.13',
    parse: 'parsed',
    raw: message({ start: 'SIP/2.0 100 ', callId: 'noreason.x', cseq: '35 INVITE', more: [] }),
  },
  {
    name: 'badinv01',
    section: '3.1.2.1',
    parse: 'dropped',
    raw: invite('badinv01', {
      via: 'Via: SIP/2.0/UDP 192.0.2.15;;,;,,',
      more: ['Max-Forwards: 70', 'Contact: "Joe" <sip:joe@example.org>;;;;', 'Content-Type: application/sdp'],
    }),
  },
  { name: 'clerr', section: '3.1.2.2', parse: 400, raw: invite('clerr', { length: 'Content-Length: 9999' }) },
  { name: 'ncl', section: '3.1.2.3', parse: 400, raw: invite('ncl', { length: 'Content-Length: -999' }) },
  {
    name: 'scalar02',
    section: '3.1.2.4',
    parse: 'dropped',
    raw: register('scalar02', 'Contact: <sip:user@host129.example.com>;expires=280297596632815', {
      cseq: '36893488147419103232 REGISTER',
      more: ['Max-Forwards: 300', 'Expires: 10000000000000000000000'],
    }),
  },
  {
    name: 'scalarlg',
    section: '3.1.2.5',
    parse: 'dropped',
    raw: message({
      start: 'SIP/2.0 503 Service Unavailable',
      callId: 'scalarlg.x',
      cseq: '9292394834772304023312 OPTIONS',
      more: ['Warning: 1812 overture "In Progress"', 'Retry-After: 949302838503028349304023988'],
    }),
  },
  {
    name: 'quotbal',
    section: '3.1.2.6',
    parse: 'dropped',
    raw: invite('quotbal', { to: 'To: "Mr. J. User <sip:j.user@example.com>' }),
  },
  {
    name: 'ltgtruri',
    section: '3.1.2.7',
    parse: 400,
    raw: invite('ltgtruri', { start: 'INVITE <sip:user@example.com> SIP/2.0' }),
  },
  {
    name: 'lwsruri',
    section: '3.1.2.8',
    parse: 400,
    raw: invite('lwsruri', { start: 'INVITE sip:user@example.com; lr SIP/2.0' }),
  },
  {
    name: 'lwsstart',
    section: '3.1.2.9',
    parse: 400,
    raw: invite('lwsstart', { start: 'INVITE  sip:user@example.com  SIP/2.0' }),
  },
  {
    name: 'trws',
    section: '3.1.2.10',
    parse: 400,
    raw: options('trws', { start: 'OPTIONS sip:remote-target@example.com SIP/2.0  ' }),
  },
  {
    name: 'escruri',
    section: '3.1.2.11',
    parse: 400,
    raw: invite('escruri', { start: 'INVITE sip:user@example.com?Route=%3Csip:example.com%3E SIP/2.0' }),
  },
  {
    name: 'baddate',
    section: '3.1.2.12',
    parse: 'parsed',
    raw: invite('baddate', {
      more: [
        'Max-Forwards: 70',
        'Date: Fri, 01 Jan 2010 16:00:00 EST',
        CONTACT,
        'Content-Type: application/sdp',
      ],
    }),
  },
  {
    name: 'regbadct',
    section: '3.1.2.13',
    parse: 'parsed',
    answer: 405,
    raw: register('regbadct', 'Contact: sip:user@example.com?Route=%3Csip:sip.example.com%3E'),
  },
  {
    name: 'badaspec',
    section: '3.1.2.14',
    parse: 'dropped',
    raw: options('badaspec', { to: 'To: "Watson, Thomas" < sip:t.watson@example.org >' }),
  },
  {
    name: 'baddn',
    section: '3.1.2.15',
    parse: 'dropped',
    raw: options('baddn', { from: 'From: Bell, Alexander <sip:a.g.bell@example.com>;tag=43' }),
  },
  {
    name: 'badvers',
    section: '3.1.2.16',
    parse: 505,
    raw: options('badvers', { start: 'OPTIONS sip:t.watson@example.org SIP/7.0' }),
  },
  { name: 'mismatch01', section: '3.1.2.17', parse: 400, raw: options('mismatch01', { cseq: '8 INVITE' }) },
  {
    name: 'mismatch02',
    section: '3.1.2.18',
    parse: 400,
    raw: options('mismatch02', { start: 'NEWMETHOD sip:user@example.com SIP/2.0', cseq: '8 INVITE' }),
  },
  {
    name: 'bigcode',
    section: '3.1.2.19',
    parse: 'dropped',
    raw: message({
      start: 'SIP/2.0 4294967301 better not break the receiver',
      callId: 'bigcode.x',
      cseq: '35 INVITE',
    }),
  },
  {
    name: 'badbranch',
    section: '3.2.1',
    parse: 'parsed',
    answer: 200,
    raw: options('badbranch', { via: 'Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK' }),
  },
  {
    name: 'insuf',
    section: '3.3.1',
    parse: 'dropped',
    raw: Buffer.from(
      'INVITE sip:user@example.com SIP/2.0\r\nCSeq: 193942 INVITE\r\nVia: SIP/2.0/UDP 192.0.2.95;branch=z9hG4bKkdj.insuf\r\nContent-Length: 0\r\n\r\n',
    ),
  },
  {
    name: 'unkscm',
    section: '3.3.2',
    parse: 'parsed',
    answer: 200,
    raw: options('unkscm', { start: 'OPTIONS nobodyKnowsThisScheme:totallyopaquecontent SIP/2.0' }),
  },
  {
    name: 'novelsc',
    section: '3.3.3',
    parse: 'parsed',
    answer: 416,
    raw: invite('novelsc', { start: 'INVITE soap.beep://192.0.2.103:3002 SIP/2.0' }),
  },
  {
    name: 'unksm2',
    section: '3.3.4',
    parse: 'parsed',
    answer: 405,
    raw: register('unksm2', 'Contact: <name:John_Smith>', {
      to: 'To: isbn:2983792873',
      from: 'From: <http://www.example.com>;tag=3234233',
    }),
  },
  {
    name: 'bext01',
    section: '3.3.5',
    parse: 'parsed',
    answer: 420,
    raw: options('bext01', {
      more: [
        'Max-Forwards: 70',
        'Require: nothingSupportsThis, nothingSupportsThisEither',
        'Proxy-Require: noProxiesSupportThis',
      ],
    }),
  },
  {
    name: 'invut',
    section: '3.3.6',
    parse: 'parsed',
    answer: 415,
    raw: invite('invut', {
      more: ['Max-Forwards: 70', CONTACT, 'Content-Type: application/unknownformat'],
      body: '<audio>\r\n<pcmu port="443"/>\r\n</audio>\r\n',
    }),
  },
  {
    name: 'regaut01',
    section: '3.3.7',
    parse: 'parsed',
    answer: 405,
    raw: register(
      'regaut01',
      'Contact: <sip:j.user@host.example.com>\r\nAuthorization: NoOneKnowsThisScheme opaque-data=here',
    ),
  },
  {
    name: 'multi01',
    section: '3.3.8',
    parse: 400,
    raw: invite('multi01', {
      more: [
        'CSeq: 59 INVITE',
        'Call-ID: multi01.other',
        'Max-Forwards: 5',
        'From: sip:other@example.net;tag=77',
        'To: sip:other@example.com',
        CONTACT,
      ],
    }),
  },
  {
    name: 'mcl01',
    section: '3.3.9',
    parse: 400,
    raw: options('mcl01', {
      more: ['Max-Forwards: 70', 'Content-Length: 13'],
      body: 'There is no telling how long this is.',
    }),
  },
  {
    name: 'bcast',
    section: '3.3.10',
    parse: 'parsed',
    raw: message({
      start: 'SIP/2.0 200 OK',
      via: 'Via: SIP/2.0/UDP 192.0.2.198;branch=z9hG4bK1324923\r\nVia: SIP/2.0/UDP 255.255.255.255;branch=z9hG4bK1saber23',
      callId: 'bcast.x',
      cseq: '35 INVITE',
      more: [CONTACT],
    }),
  },
  {
    name: 'zeromf',
    section: '3.3.11',
    parse: 'parsed',
    answer: 200,
    raw: options('zeromf', { more: ['Max-Forwards: 0'] }),
  },
  {
    name: 'cparam01',
    section: '3.3.12',
    parse: 'parsed',
    answer: 405,
    raw: register('cparam01', 'Contact: sip:watson@host.example.org;unknownparam'),
  },
  {
    name: 'cparam02',
    section: '3.3.13',
    parse: 'parsed',
    answer: 405,
    raw: register('cparam02', 'Contact: <sip:watson@host.example.org;unknownparam>'),
  },
  {
    name: 'regescrt',
    section: '3.3.14',
    parse: 'parsed',
    answer: 405,
    raw: register('regescrt', 'Contact: <sip:user@example.com?Route=%3Csip:sip.example.com%3E>'),
  },
  {
    name: 'sdp01',
    section: '3.3.15',
    parse: 'parsed',
    answer: 406,
    raw: invite('sdp01', { more: ['Max-Forwards: 70', 'Accept: text/nobodyKnowsThis', CONTACT], body: '' }),
  },
  {
    name: 'inv2543',
    section: '3.4.1',
    parse: 'parsed',
    raw: invite('inv2543', {
      via: 'Via: SIP/2.0/UDP iftgw.example.com',
      from: 'From: <sip:+15551112222@iftgw.example.com>',
      to: 'To: <sip:UserB@example.com>',
      more: [
        'Record-Route: <sip:UserB@example.com;maddr=ss1.example.com>',
        'Contact: <sip:+1-972-555-2222@iftgw.example.com;user=phone>',
        'Content-Type: application/sdp',
      ],
    }),
  },
];
