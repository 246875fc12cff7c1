import { statement } from './database.ts';

export type Environment = 'test' | 'production';

export interface DeploymentRow {
  readonly environment: Environment;
  readonly cursor_secret: Buffer;
  readonly created_at: Date;
}

export const findDeployment = statement<DeploymentRow>(
  'find_deployment',
  'select environment, cursor_secret, created_at from deployment',
);

/**
 * A row: this transaction founds the deployment. No row: another one did, and has committed; while it is still
 * at it, this statement waits. Values: environment, cursor secret.
 */
export const insertDeployment = statement<DeploymentRow>(
  'insert_deployment',
  `insert into deployment (environment, cursor_secret) values ($1, $2)
   on conflict do nothing returning environment, cursor_secret, created_at`,
);
