import type { MediaQuality } from '@trunkcall/contract';
import { text } from '../text.ts';

/** How a call sounded, in one line. */
export function soundOf(media: MediaQuality): string {
  const score = media.mos === null ? [] : [text.trunks.mos(media.mos)];
  return [...score, text.trunks.mediaOf(media)].join(' · ');
}
