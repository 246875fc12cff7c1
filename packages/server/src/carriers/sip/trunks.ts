/** Reads the trunks from the settings file: their form, and what no form can say. Pure. */
import { isIP } from 'node:net';
import { SipSettings, Trunk } from '@trunkcall/contract';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import ipaddr from 'ipaddr.js';
import { isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A trunk that can not be used; the message names the trunk and the field, and never repeats a value. */
export class TrunkProblem extends Error {
  override readonly name = 'TrunkProblem';
}

export interface TrunkSettings {
  readonly trunks: readonly Trunk[];
  readonly sip: SipSettings;
}

const ajv = new Ajv2020({ verbose: true, ownProperties: true, strict: false });
const checkTrunk = ajv.compile<Trunk>(Trunk);
const checkSip = ajv.compile<SipSettings>(SipSettings);

/**
 * Reads `{trunks, sip}` as YAML gave it; both may be missing.
 *
 * Throws: TrunkProblem for the first thing that is wrong.
 */
export function readTrunks(value: { readonly trunks?: unknown; readonly sip?: unknown }): TrunkSettings {
  const { trunks = [], sip = {} } = value;
  if (!Array.isArray(trunks)) throw new TrunkProblem('trunks must be a list');
  if (!checkSip(sip)) throw problem('sip', shapeProblem(checkSip));
  const sipFlaw = flawOfSip(sip);
  if (sipFlaw !== null) throw problem('sip', sipFlaw);
  const read = trunks.map((trunk: unknown, index) => {
    const name = nameOf(trunk, index);
    if (!checkTrunk(trunk)) throw problem(name, shapeProblem(checkTrunk));
    const flaw = flawOf(trunk);
    if (flaw !== null) throw problem(name, flaw);
    return trunk;
  });
  if (read.length > 0 && sip.bind === undefined)
    throw problem('sip', ['bind', 'is missing: the address of this machine that the trunks reach']);
  const names = read.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw problem(`trunk ${twice}`, ['name', 'is used by another trunk, too']);
  return { trunks: read, sip };
}

/** Where, and what is wrong there. */
type Flaw = readonly [field: string, wrong: string];

const problem = (where: string, [field, wrong]: Flaw) => new TrunkProblem(`${where}: ${field} ${wrong}`);

/** By its name when it has one that may be repeated, else by its place. */
function nameOf(trunk: unknown, index: number): string {
  const name = typeof trunk === 'object' && trunk !== null && 'name' in trunk ? trunk.name : undefined;
  return typeof name === 'string' && /^[a-z0-9-]{1,40}$/.test(name) ? `trunk ${name}` : `trunk ${index + 1}`;
}

function shapeProblem({ errors }: { readonly errors?: readonly ErrorObject[] | null }): Flaw {
  const error = errors?.[0];
  if (error === undefined) return ['it', 'is not valid'];
  const params: Readonly<Record<string, unknown>> = error.params;
  const name = params['missingProperty'] ?? params['additionalProperty'];
  const path = [...error.instancePath.split('/').slice(1), ...(typeof name === 'string' ? [name] : [])];
  return [path.length === 0 ? 'it' : path.join('.'), wrongWith(error)];
}

function wrongWith(error: ErrorObject): string {
  const params: Readonly<Record<string, unknown>> = error.params;
  const described: unknown = error.parentSchema?.['description'];
  const hint = typeof described === 'string' ? ` (${described})` : '';
  switch (error.keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is not a field that is known here';
    case 'enum':
      return `must be one of ${String(params['allowedValues'])}`;
    case 'pattern':
      return `has not the right form${hint}`;
    default:
      return `${error.message ?? 'is not valid'}${hint}`;
  }
}

function flawOf(trunk: Trunk): Flaw | null {
  const { countries = [], allow_prefixes: prefixes = [], inbound = [], caller_numbers: numbers } = trunk;
  const { inbound_country: inboundCountry } = trunk;
  const badNumber = numbers.findIndex((number) => parsePhoneNumberFromString(number)?.isValid() !== true);
  if (badNumber >= 0) return [`caller_numbers.${badNumber}`, 'is a number of no known numbering plan'];
  const unknown = countries.find((country) => !isSupportedCountry(country));
  if (unknown !== undefined) return ['countries', `has ${unknown}, which is no known country`];
  if (countries.length + prefixes.length === 0)
    return ['countries', 'must name a country, or allow_prefixes a prefix: nothing could be called'];
  if (inboundCountry !== undefined && !isSupportedCountry(inboundCountry))
    return ['inbound_country', 'is no known country'];
  const badBlock = inbound.findIndex((block) => !isBlock(block));
  if (badBlock >= 0) return [`inbound.${badBlock}`, 'is neither an IP address nor a CIDR block'];
  if (trunk.registrar !== undefined && trunk.credentials === undefined)
    return ['credentials', 'are missing: a registrar wants them'];
  return flawOfTls(trunk);
}

function flawOfTls(trunk: Trunk): Flaw | null {
  const { tls } = trunk;
  if (tls === undefined) return null;
  const secure = [trunk.proxy, trunk.registrar].some((server) => server?.transport === 'tls');
  if (!secure) return ['tls', 'is given, but the transport is not tls'];
  const isWhole = (tls.certificate_file === undefined) === (tls.key_file === undefined);
  return isWhole ? null : ['tls', 'must have certificate_file and key_file, or neither'];
}

function flawOfSip({ bind, public_address: publicAddress, media_ports: ports }: SipSettings): Flaw | null {
  if (bind !== undefined && isIP(bind) === 0) return ['bind', 'must be an IP address'];
  if (publicAddress !== undefined && isIP(publicAddress) === 0)
    return ['public_address', 'must be an IP address'];
  if ((bind === '0.0.0.0' || bind === '::') && publicAddress === undefined)
    return ['public_address', 'is needed when bind means every address'];
  if (ports !== undefined && ports.last < ports.first + 1)
    return ['media_ports', 'must hold two ports at least'];
  return null;
}

function isBlock(block: string): boolean {
  return block.includes('/') ? ipaddr.isValidCIDR(block) : isIP(block) !== 0;
}
