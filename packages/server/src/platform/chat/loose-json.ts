/** JSON out of the text of a model that was asked for JSON, and wrote something around it. */

/** What models think aloud before they answer. */
const thoughts = /^\s*<(think|thinking|thought|reasoning)>[\s\S]*?<\/\1>/i;
/** A brace in the prose, which opens no object, is passed over so often. */
const maxFalseStarts = 20;

/**
 * The object in a text, whatever stands around it: thoughts, a fence, words. Undefined when there is none.
 *
 * When there are several it is the last one: what stands before may be what the model quotes. Throws: never.
 */
export function looseJson(text: string): unknown {
  const candidates = [text, ...objectsIn(text.replace(thoughts, '')).reverse()];
  return candidates.map(parsed).find(isObject);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The stretches between balanced braces, outermost ones only, in order. */
function objectsIn(text: string): string[] {
  const found: string[] = [];
  let falseStarts = 0;
  for (let start = text.indexOf('{'); start >= 0 && falseStarts < maxFalseStarts;) {
    const end = endOfObject(text, start);
    if (end === null) falseStarts += 1;
    else found.push(text.slice(start, end));
    start = text.indexOf('{', end ?? start + 1);
  }
  return found;
}

/** The offset behind the brace that closes the one at `start`; null when none does. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (quoted && char === '\\') at += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && char === '{') depth += 1;
    else if (!quoted && char === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return null;
}
