import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { Route, Routes, useLocation } from 'react-router';
import { ApiError } from './api.ts';
import { forgetAll } from './client.ts';
import { Join } from './pages/join.tsx';
import { SignIn } from './pages/sign-in.tsx';
import { Boundary } from './parts/boundary.tsx';
import { Broken, Failure, Loading, NotFound } from './parts/page.tsx';
import { PlaceContext, useSessionQuery, type Place } from './session.tsx';
import { Shell } from './shell.tsx';

const Overview = lazy(() => import('./pages/overview.tsx'));
const Goals = lazy(() => import('./pages/goals.tsx'));
const Goal = lazy(() => import('./pages/goal.tsx'));
const Runs = lazy(() => import('./pages/runs.tsx'));
const Run = lazy(() => import('./pages/run.tsx'));
const Calls = lazy(() => import('./pages/calls.tsx'));
const Call = lazy(() => import('./pages/call.tsx'));
const Webhooks = lazy(() => import('./pages/webhooks.tsx'));
const Delivery = lazy(() => import('./pages/delivery.tsx'));
const Numbers = lazy(() => import('./pages/numbers.tsx'));
const Keys = lazy(() => import('./pages/keys.tsx'));
const People = lazy(() => import('./pages/people.tsx'));
const Accounts = lazy(() => import('./pages/accounts.tsx'));
const Usage = lazy(() => import('./pages/usage.tsx'));
const Settings = lazy(() => import('./pages/settings.tsx'));
const Trunks = lazy(() => import('./pages/trunks.tsx'));
const System = lazy(() => import('./pages/system.tsx'));
const Audit = lazy(() => import('./pages/audit.tsx'));

export function App() {
  return (
    <Routes>
      <Route path="/join" element={<Join />} />
      <Route path="*" element={<Inside />} />
    </Routes>
  );
}

const accountKey = 'trunkcall.account';

/** What needs a session; without one, the sign-in stands where the page will be. */
function Inside() {
  const client = useQueryClient();
  const query = useSessionQuery();
  const { pathname } = useLocation();
  const [chosen, setChosen] = useState(() => localStorage.getItem(accountKey));
  const place = useMemo((): Place | null => {
    if (query.data === undefined) return null;
    const { accounts } = query.data;
    const account = accounts.find(({ id }) => id === chosen) ?? accounts[0] ?? null;
    return { session: query.data, account, choose: setChosen };
  }, [query.data, chosen]);
  // Also one that nobody chose: a new account with an earlier name must not take its place.
  const here = place?.account?.id;
  useEffect(() => {
    if (here === undefined) return;
    localStorage.setItem(accountKey, here);
    setChosen(here);
  }, [here]);

  const signedOut = query.error instanceof ApiError && query.error.status === 401;
  if (signedOut) return <SignIn onDone={() => forgetAll(client)} />;
  if (query.error !== null && place === null)
    return <Failure error={query.error} onRetry={() => void query.refetch()} />;
  if (place === null) return <Loading />;
  return (
    <PlaceContext value={place}>
      <Shell key={place.session.person.id}>
        <Boundary fallback={<Broken />} resetKey={pathname}>
          <Suspense fallback={<Loading />}>
            <Routes>
              {place.account !== null && (
                <>
                  <Route index element={<Overview />} />
                  <Route path="goals" element={<Goals />} />
                  <Route path="runs" element={<Runs />} />
                  <Route path="calls" element={<Calls />} />
                  <Route path="webhooks" element={<Webhooks />} />
                  <Route path="usage" element={<Usage />} />
                  <Route path="numbers" element={<Numbers />} />
                  <Route path="keys" element={<Keys />} />
                  <Route path="people" element={<People />} />
                  <Route path="settings" element={<Settings />} />
                </>
              )}
              <Route path="goals/:goal" element={<Goal />} />
              <Route path="runs/:run" element={<Run />} />
              <Route path="calls/:call" element={<Call />} />
              <Route path="deliveries/:delivery" element={<Delivery />} />
              <Route path="accounts" element={<Accounts />} />
              <Route path="audit" element={<Audit />} />
              {place.session.person.operator && (
                <>
                  <Route path="trunks" element={<Trunks />} />
                  <Route path="system" element={<System />} />
                </>
              )}
              <Route path="*" element={<NotFound />} />
            </Routes>
          </Suspense>
        </Boundary>
      </Shell>
    </PlaceContext>
  );
}
