/**
 * Recordings in the console. Who wants to hear one says so first: that is noted in the audit log, and the note opens the
 * recording to this person for an hour. So nobody hears without a note, and the GETs write nothing (I7).
 */
import { isId, type ConsoleHearing, type ConsolePeaks } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import { findHearing } from '../../storage/audit.ts';
import { findRun } from '../operator/runs.ts';
import { queryParameters } from '../query.ts';
import { findRecording, readPeaks, sendRecording, type RecordingFile } from '../recording-file.ts';
import { readRun } from './read-run.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

interface OneRun {
  /** The public id. */
  Params: { run: string };
}

const hearingMs = 60 * 60_000;
const action = 'recording.heard';

export function recordingRoutes(app: FastifyInstance, { db, ids, clock, recordings }: ConsoleDeps): void {
  async function recordingOf(
    session: Session,
    publicId: string,
  ): Promise<{ accountId: string; file: RecordingFile }> {
    const { id, account_id: accountId } = await readRun(db, session, publicId, 'recording.hear');
    const file = await findRecording(recordings, (await findRun(db, id)).attempt_id);
    if (file === null) throw new Refusal('not_found', 'this machine has no recording of the Run');
    return { accountId, file };
  }

  app.post<OneRun>('/runs/:run/recording/hearings', async (request, reply): Promise<ConsoleHearing> => {
    const { session } = visitorOf(request);
    const { run: objectId } = request.params;
    const { accountId } = await recordingOf(session, objectId);
    const hearing = await db.transaction((tx) =>
      recordChange(tx, ids, { by: session.person_id, accountId, action, objectId }),
    );
    reply.code(201);
    return { hearing, expires_at: new Date(clock.now() + hearingMs).toISOString() };
  });

  app.get<OneRun>('/runs/:run/recording', async (request, reply) => {
    const { session } = visitorOf(request);
    const { run: publicId } = request.params;
    const { file } = await recordingOf(session, publicId);
    const { hearing = '' } = queryParameters(request, ['hearing']);
    const noted = isId('aud', hearing)
      ? await db.query(findHearing, [hearing, session.person_id, action, publicId, hearingMs])
      : [];
    if (noted.length === 0) throw new Refusal('forbidden', 'hearing must name a note of the last hour');
    reply.header('content-disposition', `inline; filename="${publicId}.wav"`);
    return sendRecording(request, reply, file);
  });

  app.get<OneRun>('/runs/:run/recording/peaks', async (request): Promise<ConsolePeaks> => {
    const { file } = await recordingOf(visitorOf(request).session, request.params.run);
    return readPeaks(file);
  });
}
