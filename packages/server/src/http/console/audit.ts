import type { ConsoleAuditEntry } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { listAccountAudit, listAudit, type AuditRow } from '../../storage/audit.ts';
import { pageOf, readPage } from '../operator/page.ts';
import { queryParameters } from '../query.ts';
import { requireOperator, requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

export function auditRoutes(app: FastifyInstance, { db }: ConsoleDeps): void {
  app.get('/audit', async (request) => {
    const { session } = visitorOf(request);
    const { account, ...sent } = queryParameters(request, ['account', 'after', 'limit']);
    const page = readPage(sent, 'aud');
    if (account === undefined) {
      requireOperator(session);
      return pageOf(page, (await db.query(listAudit, [page.after, page.rows])).map(entryView));
    }
    requireRight(session, account, 'audit.read');
    const rows = await db.query(listAccountAudit, [account, page.after, page.rows]);
    return pageOf(page, rows.map(entryView));
  });
}

function entryView({ person_id, person_name, created_at, ...rest }: AuditRow): ConsoleAuditEntry {
  const person = person_id === null ? null : { id: person_id, name: person_name ?? '' };
  return { ...rest, person, created_at: created_at.toISOString() };
}
