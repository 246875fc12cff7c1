/** What is remembered of the server's answers: only for the person they were given to. */
import type { ConsoleSession } from '@trunkcall/contract';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiError } from './api.ts';

export const sessionKey = ['session'] as const;

export function createClient(): QueryClient {
  let personId: string | null = null;
  /** A session that has ended shows itself with any request: then the sign-in is to be shown. */
  const onError = (error: unknown): void => {
    const { data } = client.getQueryState(sessionKey) ?? {};
    const ended = error instanceof ApiError && error.status === 401 && data !== undefined;
    if (ended) forgetAll(client);
  };
  const client: QueryClient = new QueryClient({
    queryCache: new QueryCache({
      onError,
      onSuccess: (data, { queryKey }) => {
        if (queryKey[0] !== sessionKey[0]) return;
        const { id } = (data as ConsoleSession).person;
        // Somebody else has signed in, in another tab.
        if (personId !== null && personId !== id) forgetRest(client);
        personId = id;
      },
    }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // What was refused is refused again; only a server that was not there may be there now.
        retry: (tries, error) => error instanceof ApiError && error.status === 0 && tries < 3,
      },
    },
  });
  return client;
}

/** Who looks next may be somebody else: asks anew who it is, and for everything that is shown. */
export function forgetAll(client: QueryClient): void {
  forgetRest(client);
  void client.resetQueries({ queryKey: sessionKey });
}

function forgetRest(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
}
