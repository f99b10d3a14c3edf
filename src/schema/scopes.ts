import { Kind } from 'graphql';
import { loadDocument } from './sdl';

/** What each scope allows, by the scope: the enum's description, whose first word is the scope itself. */
export function scopeDescriptions(): ReadonlyMap<string, string> {
  const scopes = loadDocument().definitions.flatMap((node) =>
    node.kind === Kind.ENUM_TYPE_DEFINITION && node.name.value === 'Scope' ? (node.values ?? []) : [],
  );
  return new Map(
    scopes.map(({ description }) => {
      const [scope = '', ...words] = (description?.value ?? '').split(': ');
      return [scope, words.join(': ')];
    }),
  );
}
