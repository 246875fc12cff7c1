/** Somebody of the simulated network is called for who is on a line. */
import type { LegEnd, Simulation, Transferred, TransferOrder } from '../carrier.ts';
import { transferFailureOf } from '../transfer-failure.ts';
import type { Line } from './line.ts';
import { reactionOf, residentOf } from './numbers.ts';
import { seededRandom } from './random.ts';

const setupMs = 300;
/** How long people talk with each other who were connected. */
const talkMs = 45_000;
const hungUp: LegEnd = { reason: 'hung_up', endedBy: 'callee', sipStatus: null, q850: 16 };

/**
 * Once they answer the two talk for a while, and the person on the line hangs up; what they say to each other is not
 * ours to hear.
 */
export async function connectWith(
  line: Line,
  simulation: Simulation,
  seed: string,
  { to, ringLimitMs, mayLeave }: TransferOrder,
  signal: AbortSignal,
): Promise<Transferred> {
  const random = seededRandom(`${seed} ${to}`);
  const { rings, afterMs, ending } = reactionOf(residentOf(to, simulation).does, random);
  if (!mayLeave()) return { kind: 'failed', why: 'not_allowed' };
  const waitMs = rings ? Math.min(afterMs, ringLimitMs) : afterMs;
  if (!(await line.time.sleep(setupMs + waitMs, signal))) return { kind: 'failed', why: 'left' };
  if (afterMs > ringLimitMs) return { kind: 'failed', why: 'no_answer' };
  if (ending !== null) return { kind: 'failed', why: transferFailureOf(ending) };
  line.time.schedule(talkMs, () => line.end(hungUp));
  void line.time.whileWaiting(line.ended);
  return { kind: 'connected' };
}
