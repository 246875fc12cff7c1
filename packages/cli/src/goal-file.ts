import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { GoalFileText } from '@trunkcall/sdk';
import { Failure } from './failure.ts';

/** Reads a Goal file as it is. Throws: Failure `file_unreadable`. */
export async function readGoalFile(file: string): Promise<GoalFileText> {
  const mediaType = extname(file).toLowerCase() === '.json' ? 'application/json' : 'application/yaml';
  try {
    return { text: await readFile(file, 'utf8'), mediaType };
  } catch (cause) {
    throw new Failure('file_unreadable', `${file} can not be read`, { cause });
  }
}
