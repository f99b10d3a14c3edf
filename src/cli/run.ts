import { existsSync, realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { CommanderError } from 'commander';
import { ownPath } from '../sdl/folder';
import { EXIT, exitCodeOf, messageOf } from './ending';
import { createProgram } from './program';
import { sayError, tolerateClosedPipes } from './terminal';

/** Runs one command line and resolves with its exit code. Errors go to stderr as messages, without stack traces. */
export async function run(argv: readonly string[]): Promise<number> {
  tolerateClosedPipes();
  // Node raises it for unhandled rejections, too. Nothing need be closed before the exit: an embedded database stops with this process
  process.on('uncaughtException', (error: unknown) => {
    const isRule = isFromRules(error);
    const what = isRule ? 'a rule left an error behind, after its request: rules are synchronous: ' : '';
    sayError(`${what}${messageOf(error)}${framesOf(error)}`);
    // a request must not be able to end a gateway by a mistake in the user's rules.mjs
    if (!isRule) process.exit(EXIT.failed);
  });
  try {
    await createProgram().parseAsync(withHelpLast(argv));
    return EXIT.done;
  } catch (error) {
    // commander has already printed its message; its exit code for wrong usage is 1, ours is 2
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    sayError(messageOf(error));
    return exitCodeOf(error);
  }
}

/** `help` before the names of a command is `--help` after them: commander's `help` stops at the first name, and loads nothing that help lists. */
function withHelpLast(argv: readonly string[]): readonly string[] {
  const [node = '', script = '', first, ...names] = argv;
  return first === 'help' && names.length > 0 ? [node, script, ...names, '--help'] : argv;
}

/** Where an error was thrown, a line each; empty if that is not known. */
function framesOf(error: unknown): string {
  const { stack }: { readonly stack?: unknown } = error instanceof Error ? error : {};
  const lines = typeof stack === 'string' ? stack.split('\n').filter((line) => /^ +at /.test(line)) : [];
  return lines.map((line) => `\n${line}`).join('');
}

/** Whether an error was thrown by the user's rules, or by what they import from their folder. */
function isFromRules(error: unknown): boolean {
  const folder = ownPath();
  if (folder === undefined) return false;
  // only a rule can throw something else than an error: in our code, the linter forbids it
  if (!(error instanceof Error) || isRejection(error)) return true;
  // Node names the files of modules by their real paths
  const folders = existsSync(folder) ? [folder, realpathSync(folder)] : [folder];
  const frames = framesOf(error);
  return folders.flatMap((path) => [path, pathToFileURL(path).href]).some((path) => frames.includes(`${path}/`));
}

/** Whether an error is that which Node makes of an unhandled rejection with something else than an error. */
function isRejection({ code }: NodeJS.ErrnoException): boolean {
  return code === 'ERR_UNHANDLED_REJECTION';
}
