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

/** A command that its user interrupted; `next` says how to go on. */
export function interrupted(next: string): CommandFailure {
  return new CommandFailure(`interrupted; ${next}`, EXIT.interrupted);
}

/** How to find an id that exists. */
const LISTED = {
  organisation: 'see scopegate org list',
  key: 'see scopegate key list --org ID',
  'webhook endpoint': 'see scopegate webhook list --org ID',
} as const;

/** An id that does not exist. */
export function notFound(kind: keyof typeof LISTED, id: string, next: string = LISTED[kind]): CommandFailure {
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
