/** What ends a command with a message for the user and no stack trace. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';

  constructor(
    message: string,
    /** One of EXIT; a fault unless said otherwise. */
    readonly exitCode: number = EXIT.fault,
  ) {
    super(message);
  }
}

/** Exit codes of every command. */
export const EXIT = { done: 0, fault: 1, usage: 2, interrupted: 130 } as const;

/** Wrong usage that only shows while the command runs. */
export function usageFailure(message: string): CommandFailure {
  return new CommandFailure(message, EXIT.usage);
}

/** The same words for everything a caller names and that is not there. */
export function thereIsNo(kind: string, id: string, next: string): CommandFailure {
  return new CommandFailure(`there is no ${kind} ${id}; ${next}`);
}

const UNREACHABLE = /^Mongo(ose)?(ServerSelection|Network|NetworkTimeout)Error$/;

/** What anything thrown says to the user: a message, never a stack, and never the credentials of an address. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return withoutCredentials(String(error));
  if (isAbort(error)) return 'interrupted';
  if (UNREACHABLE.test(error.name)) {
    return `the database does not answer (${withoutCredentials(error.message)}); check MONGODB_URI, or leave it empty to use the embedded database`;
  }
  return withoutCredentials(error.message === '' ? error.name : error.message);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommandFailure) return error.exitCode;
  return isAbort(error) ? EXIT.interrupted : EXIT.fault;
}

/** Whether this was thrown because the user asked to stop. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}

function withoutCredentials(text: string): string {
  return text.replaceAll(/((?:mongodb(?:\+srv)?|rediss?):\/\/)[^@/\s]*(?:\/[^@/\s]*)?@/g, '$1…@');
}
