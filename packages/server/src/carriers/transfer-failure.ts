import type { Ending, TransferFailure } from './carrier.ts';

/** What the end of the call to somebody means for whoever was to be connected with them. */
export function transferFailureOf({ outcome }: Ending): TransferFailure {
  switch (outcome) {
    case 'busy':
    case 'declined':
      return outcome;
    case 'ring_timeout':
    case 'unreachable':
      return 'no_answer';
    case 'canceled':
      return 'left';
    case 'invalid_number':
    case 'carrier_error':
      return 'failed';
  }
}
