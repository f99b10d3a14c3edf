import { enumValuesOf, loadDocument } from './sdl';

/** What each scope allows, by the scope: the enum's description, whose first word is the scope itself. */
export function scopeDescriptions(): ReadonlyMap<string, string> {
  return new Map(
    enumValuesOf(loadDocument(), 'Scope').map(({ description }) => {
      const [scope = '', ...words] = (description?.value ?? '').split(': ');
      return [scope, words.join(': ')];
    }),
  );
}
