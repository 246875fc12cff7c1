/** Opens our end of SIP: listeners for what the trunks use, and whom they may take calls from. */
import { readFileSync } from 'node:fs';
import type { SipSettings, Trunk } from '@trunkcall/contract';
import { openNetwork, type ListenOptions, type Network, type TlsSettings } from '@trunkcall/sip';
import ipaddr from 'ipaddr.js';
import { assert } from '../../platform/assert.ts';
import { TrunkProblem } from './trunks.ts';

/**
 * Throws: TrunkProblem for a file that can not be read; the system's error for a port in use.
 */
export function openEndpoint(trunks: readonly Trunk[], sip: SipSettings): Promise<Network> {
  const { bind, public_address: publicAddress } = sip;
  assert(bind !== undefined, 'trunks come with an address to bind to');
  const used = new Set(
    trunks.flatMap(({ proxy, registrar }) => [proxy.transport ?? 'udp', registrar?.transport ?? 'udp']),
  );
  const listener = (transport: ListenOptions['transport'], port: number): ListenOptions => ({
    transport,
    address: bind,
    port,
    ...(publicAddress === undefined ? {} : { advertise: { host: hostOf(publicAddress) } }),
  });
  const tls = sip.tls && readTls('sip', sip.tls);
  return openNetwork({
    listen: [
      listener('udp', sip.udp_port ?? 5060),
      ...(used.has('tcp') ? [listener('tcp', sip.tcp_port ?? 5060)] : []),
      ...(used.has('tls') || tls !== undefined
        ? [{ ...listener('tls', sip.tls_port ?? 5061), ...(tls === undefined ? {} : { tls }) }]
        : []),
    ],
    tlsTowards: new Map(trunks.flatMap(tlsTowards)),
  });
}

/** The TLS settings of a trunk, under the names that its servers must prove. */
function tlsTowards({ name, proxy, registrar, tls }: Trunk): [string, TlsSettings][] {
  if (tls === undefined) return [];
  const settings = readTls(`trunk ${name}`, tls);
  return [proxy, registrar ?? proxy].map(({ host }) => [host.replace(/^\[(.*)\]$/, '$1'), settings]);
}

function readTls(where: string, files: NonNullable<Trunk['tls']>): TlsSettings {
  const read = (field: keyof typeof files) => {
    const path = files[field];
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      throw new TrunkProblem(`${where}: tls.${field} can not be read`, { cause: error });
    }
  };
  const [authorities, certificate, key] = [read('ca_file'), read('certificate_file'), read('key_file')];
  return {
    ...(authorities === undefined ? {} : { authorities }),
    ...(certificate === undefined ? {} : { certificate }),
    ...(key === undefined ? {} : { key }),
  };
}

const hostOf = (address: string) => (address.includes(':') ? `[${address}]` : address);

/** The trunk that an address may call in for; undefined for strangers. The result is for many questions. */
export function createAllowList(trunks: readonly Trunk[]): (address: string) => Trunk | undefined {
  const blocks = trunks.flatMap((trunk) =>
    (trunk.inbound ?? []).map((block) => ({ trunk, block: parseBlock(block) })),
  );
  return (text) => {
    // An IPv4 caller on an IPv6 socket is named as ::ffff:a.b.c.d.
    const address = ipaddr.isValid(text) ? ipaddr.process(text) : null;
    return blocks.find(
      ({ block: [base, bits] }) => address?.kind() === base.kind() && address.match(base, bits),
    )?.trunk;
  };
}

function parseBlock(block: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (block.includes('/')) return ipaddr.parseCIDR(block);
  const address = ipaddr.process(block);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
