/**
 * The branches of an INVITE that proxies may have forked: one early dialog per To tag, of which at most one
 * becomes the call.
 */

import type { Authenticator } from '../auth/digest.ts';
import { DialogChannel } from '../dialog/channel.ts';
import { confirmDialog, dialogFromResponse } from '../dialog/dialog.ts';
import { tagOf } from '../message/address.ts';
import { sdpOf } from '../message/fields.ts';
import { parseNumber } from '../message/grammar.ts';
import type { SipResponse } from '../message/message.ts';
import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import type { ClientTransaction } from '../transaction/layer.ts';
import { CallDialog, type CallHandlers } from './call.ts';
import type { Host } from './host.ts';
import { type Negotiation, takeAnswer } from './negotiation.ts';
import type { Ended } from './outcome.ts';
import { type SessionTimerPolicy, timerFromResponse } from './session-timer.ts';

export interface Branch {
  readonly call: CallDialog;
  /** The number of the last reliable provisional response (RFC 3262 §4). */
  rseq: number | undefined;
  /** What the latest answer to our offer led to. */
  answered: Negotiation | undefined;
  /** Its 2xx came and was acknowledged. */
  acknowledged: boolean;
}

export interface BranchesParts {
  readonly host: Host;
  readonly authenticator: Authenticator | undefined;
  /** With our offer pending: every branch may answer it. */
  readonly offered: Negotiation;
  readonly user: string | undefined;
  readonly handlers: CallHandlers;
}

export class Branches {
  readonly #parts: BranchesParts;
  readonly #byTag = new Map<string, Branch>();

  constructor(parts: BranchesParts) {
    this.#parts = parts;
  }

  find(response: SipResponse): Branch | undefined {
    return this.#byTag.get(tagOf(response.to) ?? '');
  }

  /** The branch of a response, made when it is its first; undefined when the response opens no dialog. */
  open(
    response: SipResponse,
    invite: ClientTransaction,
    sessionTimer: SessionTimerPolicy,
  ): Branch | undefined {
    const known = this.find(response);
    const { host, authenticator, user, offered, handlers } = this.#parts;
    const tag = tagOf(response.to);
    const isFull = host.dialogs.size >= host.settings.maxDialogs;
    if (known !== undefined || (response.status < 200 && (tag === undefined || isFull))) return known;
    const dialog = dialogFromResponse(invite.request, response);
    if (dialog === undefined) return undefined;
    const call = new CallDialog({
      host: { ...host, settings: { ...host.settings, sessionTimer } },
      channel: new DialogChannel(host.stack, dialog, authenticator, invite.hop),
      role: 'uac',
      user,
      negotiation: offered,
      handlers,
    });
    const branch: Branch = { call, rseq: undefined, answered: undefined, acknowledged: false };
    this.#byTag.set(tag ?? '', branch);
    return branch;
  }

  /** Acknowledges a reliable provisional response with PRACK; false for a repetition or one out of order. */
  acceptProvisional(branch: Branch, response: SipResponse): boolean {
    if (!response.headers.tokens('Require').includes('100rel')) return true;
    const rseq = parseNumber(response.headers.get('RSeq'), 2 ** 32 - 1);
    if (rseq === undefined || (branch.rseq !== undefined && rseq !== branch.rseq + 1)) return false;
    branch.rseq = rseq;
    const rack = ['RAck', `${rseq} ${response.cseq.number} INVITE`] as const;
    this.#parts.host.track(branch.call.channel.request('PRACK', { headers: () => [rack] }));
    return true;
  }

  /**
   * Reads the answer in a response, if there is a usable one. What an UPDATE of the peer has agreed on since stands:
   * then the answer is only repeated (RFC 6337 §2.2).
   */
  takeAnswer(branch: Branch, response: SipResponse): NegotiatedMedia | undefined {
    const { negotiation } = branch.call.offers;
    if (branch.answered !== undefined && branch.answered !== negotiation) return negotiation.media;
    const sdp = sdpOf(response);
    const taken = sdp === undefined ? undefined : takeAnswer(this.#parts.offered, sdp);
    if (taken?.kind !== 'agreed') return undefined;
    branch.answered = taken.negotiation;
    branch.call.offers.adopt(taken.negotiation);
    return taken.media;
  }

  /** Acknowledges the first 2xx of a branch: the call is up, to be kept or to be ended. */
  confirm(branch: Branch, response: SipResponse, invite: ClientTransaction): void {
    const { channel } = branch.call;
    channel.replace(confirmDialog(channel.dialog, response));
    branch.acknowledged = true;
    this.#parts.host.track(channel.ack(invite.request));
    branch.call.confirm(timerFromResponse(response.headers), response.headers.tokens('Allow'));
  }

  /** Forgets the branches that nobody answered; a 2xx from one of them, later, opens it anew. */
  releaseEarly(ended: Ended): void {
    for (const [tag, { call, acknowledged }] of this.#byTag) {
      if (acknowledged) continue;
      call.release(ended);
      this.#byTag.delete(tag);
    }
  }
}
