/** One trunk while the carrier runs: how it is addressed, and whether calls may take it now. */
import type { Trunk, TrunkReport, TrunkServer, TrunkState } from '@trunkcall/contract';
import {
  escapeUser,
  type Codec,
  type HeaderLine,
  type LocalMedia,
  type Monitor,
  type Registration,
  parseUri,
  type UserAgent,
} from '@trunkcall/sip';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { Ending } from '../carrier.ts';
import type { TrunkLimits } from './slots.ts';
import { TrunkProblem } from './trunks.ts';

const defaultCodecs: readonly Codec[] = ['PCMU', 'PCMA'];
const defaultKeepaliveSeconds = 30;
const defaultFirstResponseSeconds = 6;
/** A trunk that asks for more rest than this is asked again all the same. */
const longestRestMs = 3_600_000;
/** When a trunk that is down is looked at again. */
const downPauseMs = 5_000;

/** How a trunk stands, and in words why. */
interface Standing {
  readonly state: TrunkState;
  readonly why: string | null;
}

export class Route {
  readonly trunk: Trunk;
  readonly limits: TrunkLimits;
  readonly #clock: Clock;
  #restUntil = -Infinity;
  #monitor: Monitor | undefined;
  #registration: Registration | undefined;
  /** Since `#since`; see `#stand`. */
  #stood: TrunkState = 'unknown';
  #since: number;
  #lastFailure: TrunkReport['last_failure'] = null;

  /** Throws: TrunkProblem for a server that can not be addressed. */
  constructor(trunk: Trunk, clock: Clock) {
    this.trunk = trunk;
    for (const server of [trunk.proxy, trunk.registrar ?? trunk.proxy, { host: this.#domain }]) {
      if (parseUri(uriOf(undefined, server)) === undefined)
        throw new TrunkProblem(`trunk ${trunk.name}: proxy, registrar or domain has a host that is none`);
    }
    this.limits = {
      trunk: trunk.name,
      maxCalls: trunk.max_calls,
      callsPerSecond: trunk.calls_per_second,
    };
    this.#clock = clock;
    this.#since = clock.now();
  }

  /** Registers and begins to watch the trunk, as far as it wants that. */
  start(agent: UserAgent, log: Logger): void {
    const { name, credentials, registrar, keepalive_seconds: seconds = defaultKeepaliveSeconds } = this.trunk;
    if (registrar !== undefined && credentials !== undefined) {
      this.#registration = agent.register({
        registrar: uriOf(undefined, registrar),
        address: uriOf(credentials.username, { host: this.#domain }),
        credentials,
        onChange: (state) => {
          const level = state.kind === 'failed' ? 'warn' : 'info';
          const status = state.kind === 'failed' ? state.status : undefined;
          log[level]({ trunk: name, state: state.kind, sip_status: status }, 'trunk registration');
          this.#stand();
        },
      });
    }
    if (seconds === 0) return;
    this.#monitor = agent.monitor({
      uri: uriOf(undefined, this.trunk.proxy),
      from: this.#ourUri,
      intervalMs: seconds * 1_000,
      onChange: (state) => {
        log[state === 'down' ? 'warn' : 'info']({ trunk: name, state }, 'trunk');
        this.#stand();
      },
    });
  }

  /** Milliseconds until the trunk may be worth another try; 0 when calls may take it now. */
  get pauseMs(): number {
    const restMs = this.restMs;
    if (restMs > 0) return restMs;
    return this.#unbound || this.#monitor?.health.state === 'down' ? downPauseMs : 0;
  }

  /** Milliseconds of the pause that the trunk asked for. */
  get restMs(): number {
    return Math.max(0, this.#restUntil - this.#clock.monotonic());
  }

  /** The trunk asked for a pause (503 with Retry-After). */
  rest(seconds: number): void {
    this.#restUntil = this.#clock.monotonic() + Math.min(seconds * 1_000, longestRestMs);
    this.#stand();
  }

  /** A call failed, and it was the trunk's doing. */
  failed({ sipStatus, q850, note }: Ending): void {
    this.#lastFailure = { at: iso(this.#clock.now()), sip_status: sipStatus, q850, note };
  }

  /** How the trunk stands, with `calls` of ours that hold a line of it. */
  report(calls: number): TrunkReport {
    const { state, why } = this.#stand();
    return {
      trunk: this.trunk.name,
      state,
      since: iso(this.#since),
      why,
      calls,
      last_failure: this.#lastFailure,
    };
  }

  /** Remembers when the state changed. The end of a rest is only noticed when somebody looks. */
  #stand(): Standing {
    const standing = this.#standing();
    if (standing.state !== this.#stood) this.#since = this.#clock.now();
    this.#stood = standing.state;
    return standing;
  }

  #standing(): Standing {
    const restMs = this.restMs;
    if (restMs > 0)
      return { state: 'resting', why: `it asked for a pause of ${Math.ceil(restMs / 1_000)} s more` };
    const registration = this.#registration?.state;
    if (registration?.kind === 'failed') {
      const { status } = registration;
      return {
        state: 'down',
        why:
          status === undefined
            ? 'the registrar does not answer'
            : `the registrar refused our registration with ${status}`,
      };
    }
    if (this.#monitor?.health.state === 'down') return { state: 'down', why: 'it does not answer OPTIONS' };
    if (this.#unbound) return { state: 'unknown', why: 'the registration is under way' };
    if (registration !== undefined || this.#monitor?.health.state === 'up') return { state: 'up', why: null };
    return this.#monitor === undefined
      ? { state: 'unknown', why: 'keepalive_seconds is 0: nobody asks whether it is up' }
      : { state: 'unknown', why: 'it was not heard of yet' };
  }

  get #unbound(): boolean {
    return this.#registration !== undefined && this.#registration.state.kind !== 'registered';
  }

  get firstResponseMs(): number {
    return (this.trunk.first_response_seconds ?? defaultFirstResponseSeconds) * 1_000;
  }

  /** How the INVITE of a call is addressed. `from` is the number that the caller asked for. */
  addressing(to: string, from: string | null, attemptId: string) {
    const { trunk } = this;
    const [first = ''] = trunk.caller_numbers;
    const shown = from !== null && trunk.caller_numbers.includes(from) ? from : first;
    const shownUri = uriOf(shown, { host: this.#domain });
    const asserted = trunk.caller_id === 'p_asserted_identity';
    const headers: HeaderLine[] = [
      ...(asserted ? [['P-Asserted-Identity', `<${shownUri}>`] as const] : []),
      ...(trunk.send_attempt_id === true ? [['X-Trunkcall-Attempt', attemptId] as const] : []),
    ];
    return {
      to: uriOf(to, trunk.proxy),
      from: asserted && trunk.credentials !== undefined ? this.#ourUri : shownUri,
      headers,
      ...(trunk.credentials === undefined ? {} : { credentials: trunk.credentials }),
    };
  }

  /** What we offer of media on a port. */
  media(address: string, port: number): LocalMedia {
    return {
      address,
      port,
      codecs: this.trunk.codecs ?? defaultCodecs,
      telephoneEvents: true,
      srtp: this.trunk.srtp ?? 'never',
      rtcpMux: false,
    };
  }

  /** What a call of that length costs, in millionths of the trunk's currency. */
  cost(to: string, durationMs: number): bigint {
    const rate = (this.trunk.rates ?? [])
      .filter(({ prefix }) => to.startsWith(prefix))
      .reduce((best, next) => (next.prefix.length > best.prefix.length ? next : best), noRate);
    return BigInt(Math.ceil((rate.per_minute * 1_000_000 * durationMs) / 60_000));
  }

  get #domain(): string {
    return this.trunk.domain ?? (this.trunk.registrar ?? this.trunk.proxy).host;
  }

  /** Who we are at the trunk: the account if there is one, else our number. */
  get #ourUri(): string {
    return uriOf(this.trunk.credentials?.username ?? this.trunk.caller_numbers[0], { host: this.#domain });
  }
}

const iso = (time: number) => new Date(time).toISOString();

const noRate = { prefix: '', per_minute: 0 };

function uriOf(user: string | undefined, { host, port, transport }: TrunkServer): string {
  const name = user === undefined ? '' : `${escapeUser(user)}@`;
  const place = port === undefined ? host : `${host}:${port}`;
  return `sip:${name}${place}${transport === undefined ? '' : `;transport=${transport}`}`;
}
