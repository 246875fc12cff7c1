import { useState } from 'react';

/** A form over values of the server: what nobody has touched follows them. */
export function useEdits<Values extends object>(values: Values) {
  const [edits, setEdits] = useState<Partial<Values>>({});
  return {
    shown: { ...values, ...edits },
    edit: (change: Partial<Values>) => setEdits((before) => ({ ...before, ...change })),
    forget: () => setEdits({}),
  };
}

/** What of a change differs from how things stand: only that is sent, so nothing that others changed is undone. */
export function differing<Values extends object>(change: Values, present: Values): Partial<Values> {
  const entries = Object.entries(change).filter(([name, value]) => value !== present[name as keyof Values]);
  return Object.fromEntries(entries) as Partial<Values>;
}
