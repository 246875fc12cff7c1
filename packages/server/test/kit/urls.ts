/** Names shared by the set-up of a test run and its tests. */

export const templateDatabase = 'trunkcall_template';

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, database: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${database}`;
  return url.href;
}
