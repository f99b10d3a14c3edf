import type { FieldDefinitionNode } from 'graphql';
import { Kind } from 'graphql/language/kinds';
import type { OpenApiDocument } from '../openapi';
import type { FirstCall } from '../pages/landing';
import type { Site } from '../pages/site';
import { ownDefinitions } from '../sdl/files';
import { argumentText, directiveIn, nameOf } from '../sdl/nodes';

/**
 * The request that the landing page begins with: the first list of the user's folder; without one, but with a description of the user's own, what
 * every key may call. Undefined if the page has its built-in one, a search in the demo's data.
 */
export function firstCall(
  document: () => OpenApiDocument,
  { description }: Pick<Site, 'description'>,
  isDemo: boolean,
): FirstCall | undefined {
  const list = ownList();
  if (list === undefined && (description === undefined || isDemo)) return undefined;
  const path = list ?? '/me';
  return { path, isList: list !== undefined, answer: () => exampleOf(document(), path) };
}

/** The route of the first list that the user's folder declares, such as `/projects`. */
function ownList(): string | undefined {
  const fields = ownDefinitions().flatMap((node) =>
    node.kind === Kind.OBJECT_TYPE_EXTENSION && nameOf(node) === 'Query' ? (node.fields ?? []) : [],
  );
  const list = fields.find((field) => isList(field) && pathOf(field)?.includes(':') === false);
  return list && pathOf(list);
}

const pathOf = (field: FieldDefinitionNode): string | undefined => argumentText(directiveIn(field, 'rest'), 'path');

/** Whether a field has pages, and can be called without arguments. */
function isList({ arguments: args = [] }: FieldDefinitionNode): boolean {
  const isRequired = args.some(({ type, defaultValue }) => type.kind === Kind.NON_NULL_TYPE && !defaultValue);
  return !isRequired && args.some(({ name }) => name.value === 'limit');
}

/** The example of a route's answer, as the reference shows it. */
function exampleOf({ paths }: OpenApiDocument, path: string): unknown {
  const answer: Answer | undefined = paths[path]?.get?.responses['200'];
  return answer?.content?.['application/json']?.example;
}

interface Answer {
  readonly content?: Readonly<Record<string, { readonly example?: unknown }>>;
}
