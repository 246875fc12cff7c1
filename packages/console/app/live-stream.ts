/**
 * A stream of server-sent events that does not stay away. A browser comes back by itself when a connection breaks, but
 * gives up for good after any answer but 200, such as a proxy's 502: then it is opened anew, later each time.
 */
const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
/** A server ends each stream now and then, and the browser is back in three seconds. */
const patienceMs = 6_000;

export interface LiveListener {
  /** By the name of an event, what is done with its data. */
  readonly on: Readonly<Record<string, (data: string) => void>>;
  /** It is there, also anew: what happened meanwhile was not told. */
  readonly onOpen: () => void;
  /** The browser gave up. It is tried again. */
  readonly onRefused: () => void;
  readonly onLive: (live: boolean) => void;
}

/** Ends with what closes it. */
export function keepLive(path: string, { on, onOpen, onRefused, onLive }: LiveListener): () => void {
  let refusals = 0;
  let away: ReturnType<typeof setTimeout> | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;
  let stream = open();

  function open(): EventSource {
    const source = new EventSource(path);
    for (const [event, listener] of Object.entries(on))
      source.addEventListener(event, (told) => {
        if ('data' in told) listener(String(told.data));
      });
    source.addEventListener('open', () => {
      refusals = 0;
      clearTimeout(away);
      away = undefined;
      onLive(true);
      onOpen();
    });
    source.addEventListener('error', () => {
      away ??= setTimeout(() => onLive(false), patienceMs);
      if (source.readyState !== EventSource.CLOSED) return;
      onRefused();
      const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** refusals++);
      // Tabs that were refused at the same time do not come back at the same time.
      again = setTimeout(() => (stream = open()), delayMs * (0.5 + Math.random() / 2));
    });
    return source;
  }

  return () => {
    stream.close();
    clearTimeout(away);
    clearTimeout(again);
  };
}
