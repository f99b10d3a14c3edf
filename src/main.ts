#!/usr/bin/env node
import { run } from './cli/run';

void run(process.argv).then((code) => {
  // not process.exit, which could lose output still being written to a pipe
  process.exitCode = code;
});
