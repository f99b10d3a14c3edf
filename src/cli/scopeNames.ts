import type { Scope } from '../auth/scopes';

let names: readonly Scope[] = [];

/** All scopes, for commands that take or list them. */
export function scopeNames(): readonly Scope[] {
  return names;
}

/** Reads the scopes of the schema, only for commands that need them, to keep the others fast. */
export async function loadScopes(_program: unknown, command: { name(): string }): Promise<void> {
  if (command.name() === 'key') names = (await import('../auth/scopes.js')).allScopes();
}
