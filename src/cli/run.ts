import { CommanderError } from 'commander';
import { EXIT, exitCodeOf, messageOf } from './ending';
import { createProgram } from './program';
import { sayError, sendStderrTo, tolerateClosedPipes } from './terminal';

/** Runs one command line and resolves with its exit code. Errors go to stderr as messages, without stack traces. */
export async function run(argv: readonly string[]): Promise<number> {
  tolerateClosedPipes();
  sendStderrTo(undefined);
  // even an error outside a command ends with a message; the embedded database stops with this process
  process.on('uncaughtException', (error) => {
    sayError(messageOf(error));
    process.exit(EXIT.failed);
  });
  try {
    await createProgram().parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    // commander has already printed its message; its exit code for wrong usage is 1, ours is 2
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    sayError(messageOf(error));
    return exitCodeOf(error);
  }
}
