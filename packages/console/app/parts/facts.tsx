import type { ReactNode } from 'react';
import { Values } from './section.tsx';

/** Names and values below each other; one without a value is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return <Values values={Object.fromEntries(facts.filter(([, value]) => value !== null))} />;
}
