/** Building blocks of the patterns that read tasks. */

/** Words that are no part of other words; \b knows ASCII letters only. */
export const word = (alternatives: string) => `(?<!\\p{L})(?:${alternatives})(?!\\p{L})`;

/** One pattern of many words. */
export const anyOf = (...patterns: readonly string[]) => new RegExp(patterns.join('|'), 'iu');
