import {
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  print,
  type TypeNode,
} from 'graphql';
import { ETAG, IF_MATCH, IF_MATCH_HEADER, takesIfMatch } from '../entityTags';
import { isMethod, METHODS } from '../declaredOperations';
import { fieldsOf, isInputObject, isListType, namedType, type RootType } from '../sdl';
import { sentences } from './sentences';

/* Finds arguments that a request on REST could not send, or that would not do what the schema says. */

/** A root field with @rest. */
export interface Route {
  readonly place: string;
  readonly root: RootType;
  readonly field: FieldDefinitionNode;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** The parameter of lists on REST that adds a field to their rows. */
const INCLUDE = 'include';

/** One message per gap, with what to change where. */
export function requestGaps(document: DocumentNode, route: Route, routes: readonly Route[]): string[] {
  const { field, path, method } = route;
  const hasBody = isMethod(method) && METHODS[method].hasBody;
  const isObject = (type: TypeNode): boolean => isInputObject(document, namedType(type));
  const inPath = path.split('/').filter((segment) => segment.startsWith(':'));
  const ofArguments = (field.arguments ?? []).flatMap((argument) => {
    const name = argument.name.value;
    const isInPath = inPath.includes(`:${name}`);
    return sentences(
      name === INCLUDE && `takes ${INCLUDE}, which lists on REST use themselves: rename it`,
      ...(isInPath
        ? pathGaps(argument, isObject)
        : hasBody
          ? bodyGaps(argument, method)
          : queryGaps(argument, isObject, method)),
    );
  });
  return [...ofArguments, ...versionGaps(document, route, routes)];
}

type IsObject = (type: TypeNode) => boolean;

function pathGaps({ name, type }: InputValueDefinitionNode, isObject: IsObject): string[] {
  return sentences(
    (isListType(type) || isObject(type)) &&
      `takes ${name.value} from its path, which cannot contain ${print(type)}: use a scalar or an enum`,
    name.value === IF_MATCH &&
      `takes ${IF_MATCH} from its path, but REST takes it from the header ${IF_MATCH_HEADER}: rename it`,
  );
}

/** Gaps of what a query string has to carry. */
function queryGaps({ name, type }: InputValueDefinitionNode, isObject: IsObject, method: string): string[] {
  const isNested = isListType(elementOf(type));
  return sentences(
    (isObject(type) || isNested) &&
      `takes ${name.value}, but the query of a ${method} cannot contain ${print(type)}: use scalars, enums or lists of them`,
  );
}

function bodyGaps({ name, defaultValue }: InputValueDefinitionNode, method: string): string[] {
  return sentences(
    method === 'PATCH' &&
      defaultValue &&
      `takes ${name.value} with the default ${print(defaultValue)}, but a PATCH keeps what is left out: remove the default`,
  );
}

function elementOf(type: TypeNode): TypeNode {
  if (type.kind === Kind.NON_NULL_TYPE) return elementOf(type.type);
  return type.kind === Kind.LIST_TYPE ? type.type : type;
}

/** Finds a write of a version that cannot be read: its entity tag is that of the object which a GET of its path returns. */
function versionGaps(document: DocumentNode, { field, path, root }: Route, routes: readonly Route[]): string[] {
  if (!takesIfMatch(field)) return [];
  if (root === 'Query') return [`takes ${IF_MATCH}, which is for writes: remove it`];
  const type = namedType(field.type);
  const isRead = routes.some((one) => one.root === 'Query' && one.path === path && namedType(one.field.type) === type);
  const given = field.arguments?.find(({ name }) => name.value === IF_MATCH);
  const isText = given !== undefined && namedType(given.type) === 'String' && !isListType(given.type);
  const hasTag = fieldsOf(document, type).some(({ name }) => name.value === ETAG);
  return sentences(
    !(isRead && path.endsWith('/:id')) && `takes ${IF_MATCH}, but no GET of its path reads what it returns`,
    given && !isText && `takes ${IF_MATCH} as ${print(given.type)}, but a header is a text: write String`,
    isRead &&
      !hasTag &&
      `takes ${IF_MATCH}, but ${type} has no ${ETAG} for GraphQL: add ${ETAG}: String! @graphql_only`,
  );
}
