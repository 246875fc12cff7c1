/** Signing in and out, and the one-time links by which people come. */
import {
  ChangePasswordRequest,
  FollowLinkRequest,
  LookAtLinkRequest,
  SignInRequest,
  type ConsoleSession,
} from '@trunkcall/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { recordChange } from '../../authoring/audit.ts';
import { hashPassword } from '../../authoring/passwords.ts';
import {
  choosePassword,
  followLink,
  lookAtLink,
  recognise,
  takeUpInvitation,
} from '../../authoring/people.ts';
import { endSession, openSession, prolongSession, type Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import { listAccounts } from '../../storage/accounts.ts';
import { networkOf } from '../auth.ts';
import { checker, readJson } from '../operator/sent.ts';
import { TokenBuckets } from '../../platform/token-buckets.ts';
import { actionsOf, roleIn } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { clearCookie, isSecure, sentToken, setCookie, visitorOf } from './visitor.ts';

/** Tries of one address: 20 at once, then one in five seconds. Each that was right is given back. */
const networkRate = { perSecond: 0.2, burst: 20 };
/** Wrong passwords for one e-mail address, from wherever: 10 at once, then one in twenty seconds. */
const emailRate = { perSecond: 0.05, burst: 10 };

const checkSignIn = checker(SignInRequest);
const checkLook = checker(LookAtLinkRequest);
const checkFollow = checker(FollowLinkRequest);
const checkPassword = checker(ChangePasswordRequest);

/** What needs no session. */
export function linkRoutes(app: FastifyInstance, { db, ids, clock, publicUrl }: ConsoleDeps): void {
  const networks = new TokenBuckets(clock, networkRate);
  const emails = new TokenBuckets(clock, emailRate);

  /** Does `work` when the buckets allow it; gives back what it took when the visitor was right (not null). */
  async function limited<T>(
    request: FastifyRequest,
    email: string | null,
    work: () => Promise<T>,
  ): Promise<T> {
    const network = networkOf(request.ip);
    take(networks, network, 'too many tries from this address');
    if (email !== null) take(emails, email, 'too many tries for this e-mail address');
    const outcome = await work();
    if (outcome !== null) {
      networks.giveBack(network);
      if (email !== null) emails.giveBack(email);
    }
    return outcome;
  }

  app.post('/session', async (request, reply) => {
    const sent = await readJson(request, checkSignIn);
    const email = sent.email.trim().normalize('NFC').toLowerCase();
    const person = await limited(request, email, () => recognise(db, email, sent.password));
    if (person === null) throw new Refusal('unauthorized', 'the e-mail address or the password is wrong');
    const old = sentToken(request);
    const token = await db.transaction(async (tx) => {
      if (old !== null) await endSession(tx, old);
      const { id } = person;
      await recordChange(tx, ids, { by: id, accountId: null, action: 'session.began', objectId: id });
      return openSession(tx, id);
    });
    setCookie(reply, token, isSecure(request, publicUrl));
    reply.code(204);
  });

  app.post('/links/look', async (request) => {
    const { token } = await readJson(request, checkLook);
    return limited(request, null, () => lookAtLink(db, token));
  });

  app.post('/links/follow', async (request, reply) => {
    const sent = await readJson(request, checkFollow);
    const session = await limited(request, null, async () => {
      // Hashing is dear: only for those who have a link.
      const link = await lookAtLink(db, sent.token);
      if (link.purpose === 'role') return takeUp(link.email ?? '', sent);
      const passwordHash = await hashPassword(sent.password);
      const { token, email = null, name = null } = sent;
      return db.transaction(async (tx) =>
        openSession(tx, await followLink(tx, ids, { token, email, name, passwordHash })),
      );
    });
    if (session === null) throw new Refusal('forbidden', 'the password of this address is wrong');
    setCookie(reply, session, isSecure(request, publicUrl));
    reply.code(204);
  });

  /** A session of the person who is invited, with the role; null for a wrong password. */
  async function takeUp(
    email: string,
    { token, password }: Static<typeof FollowLinkRequest>,
  ): Promise<string | null> {
    take(emails, email, 'too many tries for this e-mail address');
    const person = await recognise(db, email, password);
    if (person === null) return null;
    emails.giveBack(email);
    return db.transaction(async (tx) => {
      await takeUpInvitation(tx, ids, { token, personId: person.id });
      return openSession(tx, person.id);
    });
  }
}

function take(buckets: TokenBuckets, name: string, message: string): void {
  const waitSeconds = buckets.take(name);
  if (waitSeconds === 0) return;
  throw new Refusal('rate_limit_exceeded', message, { headers: { 'retry-after': String(waitSeconds) } });
}

/** What a person does with the own session. */
export function sessionRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, clock, publicUrl } = deps;
  const passwords = new TokenBuckets(clock, emailRate);

  app.get('/session', async (request): Promise<ConsoleSession> => {
    const { session } = visitorOf(request);
    const accounts = (await db.query(listAccounts)).flatMap(({ id, name }) => {
      const role = roleIn(session, id);
      return role === null ? [] : [{ id, name, role, actions: actionsOf(role) }];
    });
    const { environment } = deps;
    return { person: personOf(session), accounts, environment, base_url: publicUrl };
  });

  app.post('/session/prolong', async (request, reply) => {
    await prolongSession(db, visitorOf(request).token);
    reply.code(204);
  });

  app.delete('/session', async (request, reply) => {
    const { token, session } = visitorOf(request);
    const id = session.person_id;
    await db.transaction(async (tx) => {
      await endSession(tx, token);
      await recordChange(tx, ids, { by: id, accountId: null, action: 'session.ended', objectId: id });
    });
    clearCookie(reply, isSecure(request, publicUrl));
    reply.code(204);
  });

  app.post('/session/password', async (request, reply) => {
    const sent = await readJson(request, checkPassword);
    const { person_id: id, email } = visitorOf(request).session;
    take(passwords, id, 'too many tries');
    if ((await recognise(db, email, sent.password)) === null) {
      throw new Refusal('forbidden', 'the present password is wrong');
    }
    const passwordHash = await hashPassword(sent.new_password);
    const token = await db.transaction(async (tx) =>
      openSession(tx, await choosePassword(tx, ids, id, passwordHash)),
    );
    passwords.giveBack(id);
    setCookie(reply, token, isSecure(request, publicUrl));
    reply.code(204);
  });
}

const personOf = ({ person_id: id, email, name, operator }: Session) => ({ id, email, name, operator });
