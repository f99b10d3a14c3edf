/** Settings of a contestant's server, and how it reports that it is ready. */
export interface Settings {
  readonly uri: string;
  readonly controlDatabase: string;
  readonly port: number;
  readonly said: () => void;
}

const atEnd: (() => Promise<unknown>)[] = [];

/** Closes something before the server ends: a transaction in progress would hold its documents for a minute. */
export function closeAtEnd(close: () => Promise<unknown>): void {
  atEnd.push(close);
}

export function settings(): Settings {
  const { MONGODB_URI, CONTROL_DATABASE, PORT } = process.env;
  if (MONGODB_URI === undefined || CONTROL_DATABASE === undefined) throw new Error('must be started by bench/main.ts');
  // a regular exit, so that the CPU profile is written
  process.once('SIGTERM', () => {
    void Promise.allSettled(atEnd.map((close) => close())).then(() => process.exit(0));
  });
  return {
    uri: MONGODB_URI,
    controlDatabase: CONTROL_DATABASE,
    port: Number(PORT),
    said: () => process.stdout.write(`listening on http://127.0.0.1:${PORT ?? ''}\n`),
  };
}
