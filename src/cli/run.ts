import { CommanderError } from 'commander';
import { EXIT, exitCodeOf, messageOf } from './common/failure';
import { createProgram } from './program';
import { sayError, tolerateClosedPipes } from './common/terminal';

/** Runs one command line and resolves with its exit code. Faults are said on stderr, in words. */
export async function run(argv: readonly string[]): Promise<number> {
  tolerateClosedPipes();
  // whatever escapes a command still ends in words; the embedded database ends with this process
  process.on('uncaughtException', (error) => {
    sayError(messageOf(error));
    process.exit(EXIT.fault);
  });
  try {
    await createProgram().parseAsync(argv);
    return EXIT.done;
  } catch (error) {
    // commander has said its own message already, and counts wrong usage as 1
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    sayError(messageOf(error));
    return exitCodeOf(error);
  }
}
