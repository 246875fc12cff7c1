import type { FastifyReply } from 'fastify';
import { renderCall } from '../../publication/call-views.ts';
import type { CallRow } from '../../storage/call-views.ts';
import type { Queryable } from '../../storage/database.ts';
import { sendJson } from '../exchange.ts';

/** Answers with a call as it stands, and says when to ask again while something about it may still change. */
export type AnswerCall = (reply: FastifyReply, status: number, call: CallRow) => Promise<FastifyReply>;

export function answerCalls(deps: { readonly db: Queryable; readonly pollAfterSeconds: number }): AnswerCall {
  const retryAfter = String(deps.pollAfterSeconds);
  return async (reply, status, call) => {
    const view = await renderCall(deps.db, call);
    if (call.evidence === null) reply.header('retry-after', retryAfter);
    return sendJson(reply, status, JSON.stringify(view));
  };
}
