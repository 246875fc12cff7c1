/** Goals as API clients may see them. */
import type { GoalFile } from '@trunkcall/contract';
import { statement } from './database.ts';

/** A Goal with the RunSpec that it publishes now. */
export interface PublishedGoalRow {
  readonly id: string;
  readonly run_spec_id: string;
  readonly version: number;
  readonly content: GoalFile;
}

/**
 * Values: account id, the id behind which to go on ('' for the first page), how many. In the order of ids; an id need
 * not exist any more to go on behind it.
 */
export const listPublishedGoals = statement<PublishedGoalRow>(
  'list_published_goals',
  `select g.id, s.id as run_spec_id, s.version, s.content
     from goals g join run_specs s on s.id = g.published_run_spec_id
    where g.account_id = $1 and g.state = 'active' and g.listed and g.id > $2
    order by g.id
    limit $3`,
);

/** Values: id, account id. An active, listed Goal; the RunSpec's columns are null when it publishes none. */
export const findListedGoal = statement<{
  readonly id: string;
  readonly run_spec_id: string | null;
  readonly version: number | null;
  readonly content: GoalFile | null;
}>(
  'find_listed_goal',
  `select g.id, s.id as run_spec_id, s.version, s.content
     from goals g left join run_specs s on s.id = g.published_run_spec_id
    where g.id = $1 and g.account_id = $2 and g.state = 'active' and g.listed`,
);
