import { askFor } from './beside';
import { createCaller } from './client';

/*
 * A client in a separate process (askElsewhere in beside.ts), so that the time this process spends on other callers' answers
 * is not counted as the gateway's. Reads its parameters as JSON and writes its results as JSON.
 */

export interface Questions {
  readonly port: number;
  readonly ms: number;
  readonly paths: readonly string[];
  readonly key?: string;
}

async function main(): Promise<void> {
  const { port, ms, paths, key } = JSON.parse(process.argv[2] ?? '') as Questions;
  const { tally, latencies, asked } = await askFor(ms, { call: createCaller(port) }, paths, key);
  process.stdout.write(JSON.stringify({ counts: [...tally.entries()], latencies, asked: asked() }));
}

void main();
