/** What the page and the audio thread tell one another. */

/** 20 ms of the microphone, and how loud they were at most, 0–1. */
export interface FromLine {
  readonly frame: Uint8Array<ArrayBuffer>;
  readonly level: number;
}

export type ToLine =
  | { readonly type: 'sound'; readonly frame: Uint8Array }
  | { readonly type: 'clear' }
  | { readonly type: 'mute'; readonly muted: boolean }
  /** Nothing more is sent or comes; what came is played to its end. */
  | { readonly type: 'over' };

/** To who plays two sides: 20 ms of each, the callee's first. */
export type ToSides = Uint8Array;
