/** Ends a command with a message for the user and no stack trace. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    message: string,
    /** One of EXIT. */
    readonly exitCode: number = EXIT.fault,
  ) {
    super(message);
  }
}

/** Exit codes of every command. */
export const EXIT = { done: 0, fault: 1, usage: 2, interrupted: 130 } as const;

/** Wrong usage that is only detected while the command runs. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage);
}

/** An id that does not exist; `next` says how to find one that does. */
export function notFound(kind: string, id: string, next: string): CommandFailure {
  return new CommandFailure(`${kind} ${id} not found; ${next}`);
}

const UNREACHABLE = /^Mongo(ose)?(ServerSelection|Network|NetworkTimeout)Error$/;

/** The message to show for anything thrown: never a stack trace, and never the credentials in a URI. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return withoutCredentials(String(error));
  if (isAbort(error)) return 'interrupted';
  if (UNREACHABLE.test(error.name)) {
    return `cannot reach the database (${withoutCredentials(error.message)}); check MONGODB_URI, or leave it empty to use the embedded database`;
  }
  return withoutCredentials(error.message === '' ? error.name : error.message);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  return isAbort(error) ? EXIT.interrupted : EXIT.fault;
}

/** Whether this was thrown because the user interrupted the command. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function withoutCredentials(text: string): string {
  return text.replaceAll(/((?:mongodb(?:\+srv)?|rediss?):\/\/)[^@/\s]*(?:\/[^@/\s]*)?@/g, '$1…@');
}
