import { namedType } from '../../sdl/nodes';
import { bodyName, changedName, ERROR_SCHEMAS, itemName, writeName } from '../openApiNames';
import { omittedFrom } from '../restDocument';
import { directiveOf, isObjectNode, type Sdl } from '../sdl';
import { errorsAt, type SchemaError } from './errors';

/** Finds names that keys, the OpenAPI document or operations could not have. */
export function nameErrors(sdl: Sdl): SchemaError[] {
  return [...scopeNameErrors(sdl), ...derivedNameErrors(sdl), ...operationNameErrors(sdl)];
}

/** Finds mutations with the name of a query: OpenAPI, MCP and the log know an operation by its name alone. */
function operationNameErrors({ roots }: Sdl): SchemaError[] {
  const queries = new Set(roots.flatMap(({ kind, field }) => (kind === 'Query' ? [field.name.value] : [])));
  return roots.flatMap(({ kind, field }) => {
    const name = field.name.value;
    const isTaken = kind === 'Mutation' && queries.has(name);
    return errorsAt(field, isTaken && `Mutation.${name} has the name of Query.${name}: use another name`);
  });
}

/** Finds values of Scope without two parts, which have no form `resource:action`. */
function scopeNameErrors(sdl: Sdl): SchemaError[] {
  return sdl.enumValuesOf('Scope').flatMap((node) => {
    const { value } = node.name;
    return errorsAt(
      node,
      !/._[^_]+$/.test(value) &&
        `enum Scope has ${value}: name what it is for and what it allows, such as ${value}_READ`,
    );
  });
}

/** Finds types with names that the OpenAPI documents make of other types and of routes, whose schemas would replace theirs. */
function derivedNameErrors(sdl: Sdl): SchemaError[] {
  const derived = derivedNames(sdl);
  return sdl.document.definitions.flatMap((node) => {
    const name = 'name' in node ? node.name.value : undefined;
    const what = name === undefined ? undefined : derived.get(name);
    return errorsAt(node, what !== undefined && `${String(name)} is what ${what} called in OpenAPI: use another name`);
  });
}

/** Those names, each with the beginning of a sentence about what has it: `the rows in lists of Quote are`. */
function derivedNames({ document, fields, roots }: Sdl): ReadonlyMap<string, string> {
  const routes = roots.flatMap(({ kind, field }) => {
    const rest = directiveOf(field, 'rest');
    return rest && kind === 'Mutation' ? [{ rest, type: namedType(field.type) }] : [];
  });
  const types = document.definitions.filter(isObjectNode);
  const nameOf = (node: (typeof types)[number]): string => node.name.value;
  return new Map([
    ...ERROR_SCHEMAS.map((name) => [name, 'errors are'] as const),
    ...fields
      .filter(({ field }) => omittedFrom(field) === 'LISTS')
      .map(({ type }) => [itemName(type), `the rows in lists of ${type} are`] as const),
    ...routes.map(({ type }) => [changedName(type), `the answers to changes of ${type} are`] as const),
    ...routes.map(({ rest }) => [bodyName(rest), `the body of ${rest.method} ${rest.path} is`] as const),
    ...types.map((node) => [writeName(nameOf(node), 'Write'), `operators' writes of ${nameOf(node)} are`] as const),
    ...types
      .filter((node) => directiveOf(node, 'stored'))
      .flatMap((node) =>
        (['Put', 'Patch', 'Name'] as const).map(
          (what) => [writeName(nameOf(node), what), `a part of operators' writes of ${nameOf(node)} is`] as const,
        ),
      ),
  ]);
}
