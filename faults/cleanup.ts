type Undo = () => void | Promise<void>;

const end = new AbortController();
/** Aborted when a signal ends the run; nothing may be started after that. */
export const ending = end.signal;

const undos: { name: string; undo: Undo }[] = [];
let running: Promise<void> | undefined;

/** Runs `undo` when the run ends, however it ends, in reverse order; returns a function that runs it now instead. */
export function onEnd(name: string, undo: Undo): () => Promise<void> {
  const entry = { name, undo };
  undos.push(entry);
  return async () => {
    const at = undos.indexOf(entry);
    if (at === -1) return;
    undos.splice(at, 1);
    await undo();
  };
}

/** Runs the remaining undos; a concurrent call waits for the first. */
export function cleanUp(): Promise<void> {
  return (running ??= undoAll().finally(() => (running = undefined)));
}

async function undoAll(): Promise<void> {
  for (let last = undos.pop(); last; last = undos.pop()) {
    try {
      await last.undo();
    } catch (error) {
      process.stderr.write(`could not clean up ${last.name}: ${String(error)}\n`);
    }
  }
}

/** Cleans up on Ctrl-C, SIGTERM and errors that nobody catches before exiting. */
export function cleanUpOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      process.stderr.write(`\n${signal}: stopping what was started\n`);
      end.abort(new Error(`ended by ${signal}`));
      void cleanUp().then(() => process.exit(130));
    });
  }
  process.once('uncaughtException', (error) => {
    process.stderr.write(`\n${String(error.stack)}\n`);
    end.abort(error);
    void cleanUp().then(() => process.exit(1));
  });
}
