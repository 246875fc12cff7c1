/**
 * Kamailio as a trunk's proxy and registrar: it demands a digest, keeps bindings, records its route and relays to
 * whoever is registered.
 */

import { createSocket } from 'node:dgram';
import { freePort } from '../../kit/free-port.ts';
import { openFolder, startProgram, untilReady } from './programs.ts';

export const PASSWORD = 'secret';

export interface KamailioOptions {
  readonly algorithm: 'MD5' | 'SHA-256';
  /** How long its nonces live; 300 when absent. */
  readonly nonceSeconds?: number;
  /** The longest binding that it grants; 3,600 when absent. */
  readonly bindingSeconds?: number;
}

export interface Kamailio extends AsyncDisposable {
  /** For UDP and TCP. */
  readonly port: number;
  /** What it logged: a line for each request that it challenged. */
  output(): string;
}

/** The flags of a challenge: 1 asks for qop=auth, 16 says that the nonce was stale, as the return code -4 does. */
function configuration(port: number, options: KamailioOptions): string {
  const { algorithm, nonceSeconds = 300, bindingSeconds = 3_600 } = options;
  return `#!KAMAILIO
debug=0
log_stderror=yes
log_prefix="{$rm} "
children=2
tcp_children=2
listen=udp:127.0.0.1:${port}
listen=tcp:127.0.0.1:${port}
dns=no
rev_dns=no
auto_aliases=no
loadmodule "tm.so"
loadmodule "sl.so"
loadmodule "rr.so"
loadmodule "pv.so"
loadmodule "maxfwd.so"
loadmodule "textops.so"
loadmodule "siputils.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
loadmodule "xlog.so"
loadmodule "auth.so"
modparam("auth", "nonce_expire", ${nonceSeconds})
${algorithm === 'MD5' ? '' : `modparam("auth", "algorithm", "${algorithm}")`}
modparam("registrar", "max_expires", ${bindingSeconds})
modparam("registrar", "min_expires", 0)

request_route {
  if (!mf_process_maxfwd_header("10")) { sl_send_reply("483", "Too Many Hops"); exit; }
  if (is_method("CANCEL")) { if (t_check_trans()) t_relay(); exit; }
  if (has_totag()) {
    if (loose_route()) { t_relay(); exit; }
    if (is_method("ACK")) { if (t_check_trans()) t_relay(); exit; }
    sl_send_reply("404", "Not Here");
    exit;
  }
  t_check_trans();
  if (is_method("OPTIONS")) { sl_send_reply("200", "OK"); exit; }
  if (is_method("REGISTER")) {
    if (!pv_www_authenticate("trunk.test", "${PASSWORD}", "0")) {
      $var(why) = $rc;
      xlog("L_ALERT", "challenged $rm\\n");
      if ($var(why) == -4) www_challenge("trunk.test", "17");
      else www_challenge("trunk.test", "1");
      exit;
    }
    save("location");
    exit;
  }
  if (!pv_proxy_authenticate("trunk.test", "${PASSWORD}", "0")) {
    xlog("L_ALERT", "challenged $rm\\n");
    proxy_challenge("trunk.test", "1");
    exit;
  }
  consume_credentials();
  record_route();
  if (!lookup("location")) { sl_send_reply("404", "Not Found"); exit; }
  t_relay();
}
`;
}

const QUESTION = (port: number): string =>
  `OPTIONS sip:127.0.0.1:${port} SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:9;rport;branch=z9hG4bKready\r\n` +
  'From: <sip:a@h>;tag=1\r\nTo: <sip:b@h>\r\nCall-ID: ready\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 9\r\nContent-Length: 0\r\n\r\n';

export async function startKamailio(options: KamailioOptions): Promise<Kamailio> {
  const folder = await openFolder();
  const port = await freePort();
  const file = await folder.write('kamailio.cfg', configuration(port, options));
  // Small shared memory: 16 and 4 MB are plenty for a test, and several run at once.
  const args = ['-f', file, '-DD', '-E', '-m', '16', '-M', '4', '-Y', folder.path, '-w', folder.path];
  const program = startProgram('kamailio', args, { folder: folder.path });
  const probe = createSocket('udp4');
  let isUp = false;
  probe.on('message', () => (isUp = true));
  await untilReady(program, 'Kamailio', () => {
    if (!isUp) probe.send(QUESTION(port), port, '127.0.0.1');
    return isUp;
  });
  probe.close();
  return {
    port,
    output: () => program.output(),
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}
