/** What the benchmark and the process under test tell each other. */

/** To the process that holds the conversations. */
export type Order =
  | { readonly kind: 'provider'; readonly url: string }
  /** Begin a conversation with a callee that listens on this port. */
  | { readonly kind: 'begin'; readonly id: number; readonly calleePort: number }
  | { readonly kind: 'end'; readonly id: number }
  /** Collect garbage and say what is held. */
  | { readonly kind: 'memory' }
  | { readonly kind: 'stop' };

/** From it. */
export type Told =
  /** Where sound is sent back through bare sockets, without a bridge. */
  | { readonly kind: 'ready'; readonly barePort: number }
  | { readonly kind: 'begun'; readonly id: number; readonly port: number }
  | { readonly kind: 'ended'; readonly id: number }
  | { readonly kind: 'memory'; readonly heapBytes: number; readonly residentBytes: number };
