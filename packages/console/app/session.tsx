/** Who is signed in, and in which account they look around. */
import type { ConsoleAccount, ConsoleAction, ConsoleSession } from '@trunkcall/contract';
import { useQuery } from '@tanstack/react-query';
import { createContext, useContext, useEffect } from 'react';
import { read } from './api.ts';
import { sessionKey } from './client.ts';

export const useSessionQuery = () =>
  useQuery({ queryKey: sessionKey, queryFn: () => read<ConsoleSession>('/session'), staleTime: 60_000 });

export interface Place {
  readonly session: ConsoleSession;
  /** Null while there is none that the person may see. */
  readonly account: ConsoleAccount | null;
  readonly choose: (accountId: string) => void;
}

export const PlaceContext = createContext<Place | null>(null);

export function usePlace(): Place {
  const place = useContext(PlaceContext);
  if (place === null) throw new Error('this page is shown without a session');
  return place;
}

/** The account that is looked at. Pages that need one are only shown when there is one. */
export function useAccount(): ConsoleAccount {
  const { account } = usePlace();
  if (account === null) throw new Error('this page is shown without an account');
  return account;
}

/** Around an object stands its own account, whichever was looked at before. */
export function useAccountOf(accountId: string): void {
  const { session, choose } = usePlace();
  const { accounts } = session;
  useEffect(() => {
    if (accounts.some(({ id }) => id === accountId)) choose(accountId);
  }, [accountId, accounts, choose]);
}

/** Whether the person may do something; in the account of an object, or in the one that is looked at. */
export function useMay(action: ConsoleAction, accountId?: string): boolean {
  const { session, account } = usePlace();
  const id = accountId ?? account?.id;
  return session.accounts.find((one) => one.id === id)?.actions.includes(action) ?? session.person.operator;
}
