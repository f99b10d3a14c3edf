import {
  getNamedType,
  getNullableType,
  type GraphQLNamedType,
  type GraphQLObjectType,
  isAbstractType,
  isEnumType,
  isListType as isListOf,
  isObjectType,
  isRequiredArgument,
  type InputValueDefinitionNode,
  Kind,
  print,
  type TypeNode,
} from 'graphql';
import { errorsAt, type SchemaError } from '../../src/schema/checks/errors';
import { ETAG, IF_MATCH, takesIfMatch } from '../../src/schema/entityTags';
import { isMethod, METHODS } from '../../src/schema/declaredOperations';
import { omittedFrom } from '../../src/schema/restDocument';
import { directiveOf, isListType, namedType } from '../../src/schema/sdl';
import type { Model, Route, Rules } from './model';

/* Routes of REST and what they take and return, and answers of tools, which have every field. */

const SUCCESS = [200, 201, 202];

const patternOf = (path: string): string => path.replaceAll(/:\w+/g, ':');
const namesIn = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

function argumentOf({ node }: Pick<Route, 'node'>, name: string): InputValueDefinitionNode | undefined {
  return node.arguments?.find((one) => one.name.value === name);
}

/** Whether a query string can carry a type: scalars, enums and lists of these. */
function isFlat({ sdl }: Model, type: TypeNode): boolean {
  const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  const isNested = inner.kind === Kind.LIST_TYPE && isListType(inner.type);
  return !isNested && !sdl.isInputObject(namedType(type));
}

function isReadBy(route: Route, other: Route): boolean {
  return other.method === 'GET' && namedType(other.node.type) === namedType(route.node.type);
}

export const ROUTES: Rules = {
  'route-method': {
    route: ({ method, root }) => {
      const known = isMethod(method) ? METHODS[method] : undefined;
      return [
        !known && `has @rest(method: ${method}): REST has ${Object.keys(METHODS).join(', ')}`,
        known && known.root !== root && `has @rest(method: ${method}), which is for fields of ${known.root}`,
      ];
    },
  },
  'route-path': {
    route: ({ path, ...route }, model) => {
      if (!/^(\/([a-z][\w-]*|:[a-z]\w*))+$/.test(path))
        return [`has @rest(path: "${path}"): use /words and /:arguments, without a trailing /`];
      return namesIn(path).map((name, at, all) => {
        const argument = argumentOf(route, name);
        if (all.indexOf(name) < at) return `has :${name} in its path more than once: give each its own argument`;
        if (!argument) return `has :${name} in its path but no argument ${name}`;
        if (isListType(argument.type) || !isFlat(model, argument.type))
          return `takes ${name} from its path, which cannot contain ${print(argument.type)}: use a scalar or an enum`;
        const isNullable = argument.type.kind !== Kind.NON_NULL_TYPE;
        return isNullable && `takes ${name} from its path, so it must be non-null: add !`;
      });
    },
  },
  'route-names': {
    route: ({ path }, { routes }) => {
      const other = routes.find((one) => patternOf(one.path) === patternOf(path));
      return [
        other &&
          other.path !== path &&
          `has @rest(path: "${path}"), but ${other.name} has "${other.path}": use the same names, since a path has one set of parameters`,
      ];
    },
  },
  'route-status': {
    route: ({ status }) => [
      !SUCCESS.includes(status) && `has @rest(status: ${String(status)}): use one of ${SUCCESS.join(', ')}`,
    ],
  },
  'route-created': {
    route: (route, { sdl, routes }) => {
      const { status, method, path, node } = route;
      if (status !== 201) return [];
      if (method !== 'POST') return [`has @rest(status: 201) with ${method}, but only a POST creates: use 200`];
      const type = namedType(node.type);
      const isRead = routes.some((one) => isReadBy(route, one) && patternOf(one.path) === `${patternOf(path)}/:`);
      const id = sdl.fieldsOf(type).find(({ name }) => name.value === 'id');
      const isNamed = id !== undefined && omittedFrom(id) !== 'EVERYWHERE';
      return [
        isRead &&
          !isNamed &&
          `has @rest(status: 201), but ${type} has no id on REST for its Location: add id: ID!, or use 200`,
      ];
    },
  },
  'route-query': {
    route: ({ method, path, node }, model) => {
      if (isMethod(method) && METHODS[method].hasBody) return [];
      return (node.arguments ?? [])
        .filter(({ name, type }) => !namesIn(path).includes(name.value) && !isFlat(model, type))
        .map(
          ({ name, type }) =>
            `takes ${name.value}, but the query of a ${method} cannot contain ${print(type)}: use scalars, enums or lists of them`,
        );
    },
  },
  'patch-default': {
    route: ({ method, node }) =>
      (node.arguments ?? []).map(
        ({ name, defaultValue }) =>
          method === 'PATCH' &&
          defaultValue &&
          `takes ${name.value} with the default ${print(defaultValue)}, but a PATCH keeps what is left out: remove the default`,
      ),
  },
  'if-match': {
    route: (route, { sdl, routes }) => {
      const { node, root, path } = route;
      if (!takesIfMatch(node)) return [];
      if (root === 'Query') return [`takes ${IF_MATCH}, which is for writes: remove it`];
      const type = namedType(node.type);
      const isRead = routes.some((one) => isReadBy(route, one) && one.path === path);
      const given = argumentOf(route, IF_MATCH);
      const isText = given && namedType(given.type) === 'String' && !isListType(given.type);
      const hasTag = sdl.fieldsOf(type).some(({ name }) => name.value === ETAG);
      return [
        !isRead && `takes ${IF_MATCH}, but no GET of its path reads what it returns`,
        given && !isText && `takes ${IF_MATCH} as ${print(given.type)}, but a header is a string: write String`,
        namesIn(path).includes(IF_MATCH) &&
          `takes ${IF_MATCH} from its path, but REST takes it from a header: rename it`,
        isRead &&
          !hasTag &&
          `takes ${IF_MATCH}, but ${type} has no ${ETAG} for GraphQL: add ${ETAG}: String! @graphql_only`,
      ];
    },
  },
  'root-name': {
    // keys, metrics, logs and tools know operations by their names only
    root: ({ name, node }, { roots }) => {
      const other = roots.find((one) => one.node.name.value === node.name.value);
      return [other && other.name !== name && `has the same name as ${other.name}: rename one of them`];
    },
  },
  'root-null': {
    root: ({ node }) => [
      node.type.kind === Kind.NON_NULL_TYPE &&
        'is non-null, so its error would remove the other fields of a GraphQL answer: remove !',
    ],
  },
  'access-null': {
    field: ({ kind, node }, { sdl }) => [
      kind === 'member' &&
        node.type.kind === Kind.NON_NULL_TYPE &&
        directiveOf(node, 'access') &&
        !sdl.stored.has(namedType(node.type)) &&
        'has @access and is non-null, so a caller who may not read it loses the object around it: remove !',
    ],
  },
  answer: { schema: answerErrors },
};

/** Finds answers that REST or tools could not give. */
function answerErrors({ schema, roots, sdl }: Model): SchemaError[] {
  const [onRest, ofTools] = [new Set<GraphQLObjectType>(), new Set<GraphQLObjectType>()];

  /** Finds what an answer contains that cannot be given; each type is read once. */
  function inside(
    type: GraphQLObjectType,
    root: string,
    isRest: boolean,
    around: readonly GraphQLNamedType[] = [],
  ): SchemaError[] {
    const read = isRest ? onRest : ofTools;
    if (read.has(type)) return [];
    read.add(type);
    const [path, who] = [[...around, type], isRest ? 'REST' : `the tool ${root}`];
    const instead = isRest ? 'add @graphql_only' : `let ${root} return another type`;
    // relations have rules of their own, and what they lead to is read where it is listed
    const isRelation = ({ name }: GraphQLNamedType): boolean =>
      sdl.stored.has(type.name) && (sdl.stored.has(name) || sdl.stored.has(name.replace(/Page$/, '')));
    const fields = Object.values(type.getFields()).filter(
      (field) =>
        !(isRest && isRelation(getNamedType(field.type))) &&
        !(field.astNode && omittedFrom(field.astNode) === 'EVERYWHERE'),
    );
    return [
      ...errorsAt(
        type.astNode ?? undefined,
        fields.length === 0 && `${type.name} has only fields with @graphql_only, but ${root} returns it: remove one`,
      ),
      ...fields.flatMap((field): SchemaError[] => {
        const inner = getNamedType(field.type);
        const place = `${type.name}.${field.name}`;
        const isRound = path.some((one) => one === inner);
        const needed = field.args.filter(isRequiredArgument).map(({ name }) => name);
        const errors = errorsAt(
          field.astNode ?? undefined,
          isRound && `${place} leads back to ${inner.name}, which ${who} would return without end: ${instead}`,
          isAbstractType(inner) && `${place} is ${inner.name}, whose fields ${who} cannot know: ${instead}`,
          directiveOf(field.astNode, 'access') &&
            `${place} has its own @access, but ${who} returns every field to all who may call it: ${instead}`,
          needed.length > 0 &&
            `${place} needs ${needed.join(', ')}, which ${who} cannot send: make it nullable, or ${instead}`,
        );
        const isDeeper = isObjectType(inner) && !isRound && !isRelation(inner);
        return [...errors, ...(isDeeper ? inside(inner, root, isRest, path) : [])];
      }),
    ];
  }

  return roots.flatMap(({ owner, node, name }) => {
    const field = (schema.getType(owner) as GraphQLObjectType).getFields()[node.name.value];
    const [isRest, isTool] = [directiveOf(node, 'rest') !== undefined, directiveOf(node, 'mcp') !== undefined];
    if (!field || !(isRest || isTool)) return [];
    const answer = getNamedType(field.type);
    const canAnswer = !isListOf(getNullableType(field.type)) && (isObjectType(answer) || isEnumType(answer));
    if (!canAnswer)
      return errorsAt(
        node,
        `${name} returns ${String(field.type)}, but REST and tools answer with an object: return a type that contains it`,
      );
    return isObjectType(answer) ? inside(answer, name, isRest) : [];
  });
}
