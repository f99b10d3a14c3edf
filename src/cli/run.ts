import { CommanderError } from 'commander';
import { EXIT, exitCodeOf, messageOf } from './ending';
import { createProgram } from './program';
import { sayError, sendStderrTo, tolerateClosedPipes } from './terminal';

/** Runs one command line and resolves with its exit code. Errors go to stderr as messages, without stack traces. */
export async function run(argv: readonly string[]): Promise<number> {
  tolerateClosedPipes();
  sendStderrTo(undefined);
  // an error outside a command still ends in a message; the embedded database stops with this process
  process.on('uncaughtException', (error) => {
    sayError(messageOf(error));
    process.exit(EXIT.failed);
  });
  try {
    await createProgram().parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    // commander has already printed its message, and exits with 1 for wrong usage
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    sayError(messageOf(error));
    return exitCodeOf(error);
  }
}
