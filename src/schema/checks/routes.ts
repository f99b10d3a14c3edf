import { type FieldDefinitionNode, Kind } from 'graphql';
import { directiveOf, type Sdl } from '../sdl';
import { errorsAt, type SchemaError } from './errors';

/* Finds routes (@rest) that no request would reach, or whose paths do not fit their arguments. */

export function routeErrors(sdl: Sdl): SchemaError[] {
  return [
    ...duplicateErrors(sdl),
    ...sdl.roots.flatMap(({ kind, field }) => pathErrors(`${kind}.${field.name.value}`, field)),
  ];
}

/** Finds duplicate routes, of which only the first would be served. */
function duplicateErrors({ roots }: Sdl): SchemaError[] {
  const places = new Map<string, string>();
  return roots.flatMap(({ kind, field }) => {
    const rest = directiveOf(field, 'rest');
    if (!rest) return [];
    const place = `${kind}.${field.name.value}`;
    const route = `${rest.method} ${rest.path.replaceAll(/:\w+/g, ':')}`;
    const other = places.get(route);
    places.set(route, place);
    return errorsAt(field, other !== undefined && `${place} has the same route as ${other}: change its path or method`);
  });
}

/** A path of words in lower case, and of parameters as :name. */
const PATH = /^(?:\/(?:[a-z0-9_-]+|:[a-z0-9_]+))+$/;

/** The first words of paths below /api/v1 that are not of REST; a test checks that they are those of gateway/paths.ts. */
export const WORDS_OF_PAGES: readonly string[] = ['docs'];

function pathErrors(place: string, field: FieldDefinitionNode): SchemaError[] {
  const { path } = directiveOf(field, 'rest') ?? {};
  if (path === undefined) return [];
  if (!PATH.test(path)) {
    const wanted = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const correction = PATH.test(wanted) ? `write ${wanted}` : 'write one like /invoices/:id';
    return errorsAt(field, `${place} has the path ${path}, which matches no request: ${correction}`);
  }
  const [, word = ''] = path.split('/');
  if (WORDS_OF_PAGES.includes(word))
    return errorsAt(
      field,
      `${place} has the path ${path}, which has pages of the gateway: begin it with another word than ${word}`,
    );
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return names.flatMap((name) => {
    const argument = field.arguments?.find((candidate) => candidate.name.value === name);
    return errorsAt(
      field,
      !argument && `${place} has :${String(name)} in its path but no argument ${String(name)}: add it`,
      argument &&
        argument.type.kind !== Kind.NON_NULL_TYPE &&
        `${place} takes ${String(name)} from its path, so it must be non-null: add !`,
    );
  });
}
