import { useEffect } from 'react';
import { useLocation } from 'react-router';

/** The id of the part of the page that the address names, such as `turn-3`; empty when it names none. */
export const useTarget = (): string => useLocation().hash.slice(1);

/**
 * Brings what the address names into view, and the keyboard to it: with the page, and with each link that leads there,
 * also a second time. (Browsers do so by themselves only for what is there when the page comes.)
 */
export function useScrollToTarget(): void {
  const { hash, key } = useLocation();
  useEffect(() => {
    const item = document.getElementById(hash.slice(1));
    item?.scrollIntoView({ block: 'center' });
    item?.focus({ preventScroll: true });
  }, [hash, key]);
}
