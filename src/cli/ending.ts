import { once } from 'node:events';
import { isStartedByNpm } from '../config';

/* How a command ends: its failures, its exit codes, and the signals that interrupt it. */

/** Ends a command with a message for the user and no stack trace. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    message: string,
    /** One of EXIT. */
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
  }
}

/** Exit codes of every command. */
export const EXIT = { done: 0, failed: 1, usage: 2, interrupted: 130 } as const;

/** Wrong usage that is only detected while the command runs. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage);
}

/** The failure of a command that its user interrupted; `next` says how to continue. */
export function interrupted(next: string): CommandFailure {
  return new CommandFailure(`interrupted; ${next}`, EXIT.interrupted);
}

/** For `catch`: rethrows an error, as {@link interrupted} if the user interrupted the command. */
export function rethrowInterrupted(next: string): (error: unknown) => never {
  return (error) => {
    throw isAbort(error) ? interrupted(next) : error;
  };
}

/** @throws CommandFailure with every error in a schema, if there are any */
export function refuseSchema(errors: readonly string[]): void {
  if (errors.length > 0) throw new CommandFailure(['invalid schema:', ...errors].join('\n'));
}

/** Where to look up an id, by what it identifies. */
const LISTED = {
  organisation: 'see scopegate org list',
  key: 'see scopegate key list --org ID',
  'webhook endpoint': 'see scopegate webhook list --org ID',
} as const;

/** The failure if an id does not exist. */
export function notFound(kind: keyof typeof LISTED, id: string, next: string = LISTED[kind]): CommandFailure {
  return new CommandFailure(`${kind} ${id} not found; ${next}`);
}

/** Names of the errors of the driver, and of mongoose, without a connection. */
const UNREACHABLE = /^Mongo(ose)?(ServerSelection|Network|NetworkTimeout)Error$/;

/** The message to show for anything thrown: never a stack trace, and never the credentials in a URI. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return withoutCredentials(String(error));
  if (isAbort(error)) return 'interrupted';
  if (UNREACHABLE.test(error.name)) {
    return `cannot reach the database (${withoutCredentials(error.message)}); scopegate doctor says what to change`;
  }
  return withoutCredentials(error.message === '' ? error.name : error.message);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  return isAbort(error) ? EXIT.interrupted : EXIT.failed;
}

/** Whether an error was thrown because the user interrupted the command. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function withoutCredentials(text: string): string {
  // a password that is not encoded may have @ and /
  return text.replaceAll(/((?:mongodb(?:\+srv)?|rediss?):\/\/)\S*@/g, '$1…@');
}

/** npm and npx forward a Ctrl-C that their child already got from the terminal, so a second signal within this time (ms) is ignored. */
const SAME_PRESS = 500;
/** How often to check whether the shell that npm started is still there, in milliseconds. */
const CHECK_SHELL_EVERY = 200;

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP, or when npm's shell ends, with an AbortError whose message is the signal's name or says that; a
 * second signal exits the process immediately. Call it once: its listeners stay.
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  let firstAt: number | undefined;
  const abort = (why: string): void => {
    controller.abort(new DOMException(why, 'AbortError'));
  };
  const onSignal = (name: string): void => {
    firstAt ??= performance.now();
    abort(name);
    // the embedded database stops with this process
    if (performance.now() - firstAt > SAME_PRESS) process.exit(EXIT.interrupted);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  onShellEnd(() => {
    abort('the shell of npm ended');
  });
  return controller.signal;
}

/**
 * npm and npx run a command in `sh -c` and send SIGTERM to that shell. Some shells, such as dash, pass no signal on: they end, and the
 * command gets another parent.
 */
function onShellEnd(stop: () => void): void {
  if (!isStartedByNpm()) return;
  const { ppid: shell } = process;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    stop();
  }, CHECK_SHELL_EVERY).unref();
}

/** How long a process that has closed what it opened may take to end by itself, in milliseconds. */
const CLOSING = 200;

/**
 * Ends the process soon; call it once everything is closed. The driver leaves a socket open on which it has just begun to connect, and that would
 * keep the process running for 5 s.
 */
export function exitSoon(): void {
  setTimeout(() => process.exit(), CLOSING).unref();
}

/** Resolves when the signal aborts. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/**
 * Runs `work` until it ends, a signal arrives, or the reader of stdout is gone (`| head -1`); none of these is a failure.
 */
export async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const unread = new AbortController();
  const onError = (): void => {
    unread.abort();
  };
  process.stdout.on('error', onError);
  const signal = AbortSignal.any([interruption(), unread.signal]);
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted || !isAbort(error)) throw error;
  } finally {
    process.stdout.off('error', onError);
  }
}
