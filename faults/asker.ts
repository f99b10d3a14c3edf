import { askFor } from './beside';
import { createCaller } from './client';

/*
 * One who asks from a process of its own (askElsewhere of beside.ts): what another caller's answers take to be read here
 * must not count as the gateway's time. Takes its questions as JSON, and says as JSON what came.
 */

export interface Questions {
  readonly port: number;
  readonly ms: number;
  readonly paths: readonly string[];
  readonly key: string;
}

async function main(): Promise<void> {
  const { port, ms, paths, key } = JSON.parse(process.argv[2] ?? '') as Questions;
  const { tally, latencies, asked } = await askFor(ms, { call: createCaller(port) }, paths, key);
  process.stdout.write(JSON.stringify({ counts: [...tally.entries()], latencies, asked: asked() }));
}

void main();
