#!/usr/bin/env node
import { run } from './cli/run';

void run(process.argv).then((code) => {
  // set, not process.exit: what was written to a pipe must arrive first
  process.exitCode = code;
});
