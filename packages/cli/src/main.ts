#!/usr/bin/env node
/** The command `trunkcall`; the only file of it that touches the process. */
import { run } from './program.ts';

// A reader such as `head` may close the pipe early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
});
