import { setImmediate as turn } from 'node:timers/promises';

/**
 * Gives back what starting has used: V8 keeps the memory in which modules were loaded and schemas built until it is short of it, a quarter
 * of what a gateway has then. Takes some 0.1 s, in which nothing else runs, so it belongs before the server is said to listen.
 */
export async function releaseStartMemory(): Promise<void> {
  // loaded here, since nothing else needs it; V8 collects on request only through it, or with a flag for the whole process
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise<void>((resolve) => {
    // also if it failed, since the gateway works without it
    session.post('HeapProfiler.collectGarbage', () => {
      resolve();
    });
  });
  // a session cannot end within its own answer
  await turn();
  session.disconnect();
}
