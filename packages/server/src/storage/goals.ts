import type { GoalFile } from '@trunkcall/contract';
import { statement } from './database.ts';

/** A Goal as its owner's operator sees it. `json` columns keep the order of their keys. */
export interface GoalRow {
  readonly id: string;
  readonly account_id: string;
  readonly state: 'draft' | 'active' | 'paused' | 'retired';
  readonly listed: boolean;
  /** The last draft that was valid. */
  readonly draft: GoalFile;
  /** What is newer than it, and not valid yet; null when there is nothing. */
  readonly unfinished: unknown;
  /** Grows with every change of the draft. */
  readonly draft_revision: number;
  readonly latest_version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly published_run_spec_id: string | null;
  readonly published_version: number | null;
  /** The published content; null when nothing is published. */
  readonly published: GoalFile | null;
}

const goalColumns = `g.id, g.account_id, g.state, g.listed, g.draft, g.unfinished, g.draft_revision,
  g.latest_version, g.created_at, g.updated_at,
  g.published_run_spec_id, s.version as published_version, s.content as published`;
const goalTables = 'goals g left join run_specs s on s.id = g.published_run_spec_id';

/** Values: goal id. */
export const findGoal = statement<GoalRow>(
  'authoring_find_goal',
  `select ${goalColumns} from ${goalTables} where g.id = $1`,
);

/**
 * Goals in the order of their ids. Values: account id (null: of all accounts), id to continue behind (null: from
 * the first), most rows.
 */
export const listGoals = statement<GoalRow>(
  'authoring_list_goals',
  `select ${goalColumns} from ${goalTables}
   where ($1::text is null or g.account_id = $1) and ($2::text is null or g.id > $2) order by g.id limit $3`,
);

/** Values: id, account id, draft (JSON text). */
export const insertGoal = statement<never>(
  'authoring_insert_goal',
  'insert into goals (id, account_id, draft) values ($1, $2, $3::json)',
);

/** Holds the Goal until the transaction ends: commands on one Goal happen one after the other. Values: goal id. */
export const lockGoal = statement<
  Pick<GoalRow, 'account_id' | 'state' | 'draft' | 'unfinished' | 'draft_revision' | 'latest_version'>
>(
  'authoring_lock_goal',
  `select account_id, state, draft, unfinished, draft_revision, latest_version from goals where id = $1
   for no key update`,
);

/** Values: goal id, draft (JSON text). */
export const updateDraft = statement<never>(
  'update_draft',
  `update goals set draft = $2::json, unfinished = null, draft_revision = draft_revision + 1, updated_at = now()
   where id = $1`,
);

/** Keeps what is not valid yet beside the last valid draft. Values: goal id, text (JSON). */
export const updateUnfinished = statement<never>(
  'update_unfinished',
  `update goals set unfinished = $2::json, draft_revision = draft_revision + 1, updated_at = now() where id = $1`,
);

/**
 * Adds a publication and makes it the current one. The content is the draft's own text, not a copy that went
 * through the program. Values: goal id, version, RunSpec id, state of the Goal.
 */
export const publishDraft = statement<never>(
  'publish_draft',
  `with spec as (
     insert into run_specs (id, goal_id, version, content) select $3, g.id, $2, g.draft from goals g where g.id = $1
   )
   update goals set published_run_spec_id = $3, latest_version = $2, state = $4, updated_at = now() where id = $1`,
);

/** Values: goal id. */
export const withdrawPublication = statement<never>(
  'withdraw_publication',
  `update goals set published_run_spec_id = null, updated_at = now()
   where id = $1 and published_run_spec_id is not null`,
);

/** Values: goal id, state. */
export const setGoalState = statement<never>(
  'set_goal_state',
  'update goals set state = $2, updated_at = now() where id = $1',
);

/** Values: goal id, listed. */
export const setGoalListed = statement<never>(
  'set_goal_listed',
  'update goals set listed = $2, updated_at = now() where id = $1 and listed <> $2',
);

export interface VersionRow {
  readonly id: string;
  readonly version: number;
  readonly published_at: Date;
  /** How many runs are pinned to it. */
  readonly runs: number;
}

/** All publications of a Goal, newest first. Reads each of the Goal's runs once. Values: goal id. */
export const listVersions = statement<VersionRow>(
  'list_versions',
  `select s.id, s.version, s.published_at, count(r.id) as runs
   from run_specs s left join runs r on r.goal_id = s.goal_id and r.run_spec_id = s.id
   where s.goal_id = $1 group by s.id order by s.version desc`,
);

/** A publication's content. Values: goal id, version. */
export const findVersion = statement<{ readonly content: GoalFile }>(
  'find_version',
  'select content from run_specs where goal_id = $1 and version = $2',
);
