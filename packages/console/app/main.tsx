import '@mantine/core/styles.css';
import './styles.css';
import { MantineProvider } from '@mantine/core';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { BrowserRouter } from 'react-router';
import { ApiError } from './api.ts';
import { App } from './app.tsx';
import { nonce } from './nonce.ts';
import { sessionKey } from './session.tsx';
import { theme, variables } from './theme.ts';

/** A session that has ended shows itself with any request: then the sign-in is to be shown. */
const onError = (error: unknown): void => {
  const { data } = client.getQueryState(sessionKey) ?? {};
  const ended = error instanceof ApiError && error.status === 401 && data !== undefined;
  if (ended) void client.resetQueries({ queryKey: sessionKey });
};

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({ onError }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused is refused again; only a server that was not there may be there now.
      retry: (tries, error) => error instanceof ApiError && error.status === 0 && tries < 3,
    },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      getStyleNonce={() => nonce}
    >
      <QueryClientProvider client={client}>
        <BrowserRouter basename="/console">
          <App />
        </BrowserRouter>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
