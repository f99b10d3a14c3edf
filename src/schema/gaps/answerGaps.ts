import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
} from 'graphql';
import { ETAG } from '../entityTags';
import { rootFields } from '../jsonSchema';
import { omittedFrom } from '../restDocument';
import { directiveOf, PAGE } from '../sdl';
import { sentences } from './sentences';

/* Finds answers that REST or tools, which return every field, could not give, and errors that would take others with them. */

type Field = GraphQLField<unknown, unknown>;

/** One message per gap, with what to change where. */
export function answerGaps(schema: GraphQLSchema): string[] {
  const gapsOnRest = gapsInside(schema, true);
  const gapsOfTools = gapsInside(schema, false);
  const ofRoots = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).flatMap((field) => {
      const place = `${String(type?.name)}.${field.name}`;
      const isOnRest = directiveOf(field.astNode, 'rest') !== undefined;
      const isTool = directiveOf(field.astNode, 'mcp') !== undefined;
      if (!isOnRest && !isTool) return [];
      const answer = getNamedType(field.type);
      if (!canAnswer(field))
        return [
          `${place} returns ${String(field.type)}, but REST and tools answer with an object: return a type that contains it`,
        ];
      return isObjectType(answer) ? (isOnRest ? gapsOnRest : gapsOfTools)(answer, place) : [];
    }),
  );
  return [...new Set(ofRoots), ...nullGaps(schema)];
}

/** Whether a field returns an object or an enum value. */
function canAnswer({ type }: Field): boolean {
  const named = getNamedType(type);
  return !isListType(getNullableType(type)) && (isObjectType(named) || isEnumType(named));
}

/** Finds gaps in what an answer contains; each type is read once. */
function gapsInside(schema: GraphQLSchema, isOnRest: boolean) {
  const read = new Set<GraphQLObjectType>();
  const shown = (type: GraphQLObjectType): Field[] =>
    Object.values(type.getFields()).filter((field) => !isOnRest || omissionOf(field) !== 'EVERYWHERE');

  return function inside(type: GraphQLObjectType, place: string, around: readonly GraphQLNamedType[] = []): string[] {
    if (read.has(type)) return [];
    read.add(type);
    const path = [...around, type];
    const who = isOnRest ? 'REST' : `the tool ${place}`;
    const instead = isOnRest ? 'add @graphql_only' : `let ${place} return another type`;
    const fields = shown(type);
    return [
      ...sentences(
        fields.length === 0 &&
          `${type.name} has only fields with @graphql_only, but ${place} returns it: remove one of these`,
      ),
      ...fields
        // relations on REST have their own sentence
        .filter((field) => !(isOnRest && leadsToStored(schema, type, field)))
        .flatMap((field) => {
          const inner = getNamedType(field.type);
          const isRound = path.some((one) => one === inner);
          const needed = field.args.filter(isRequiredArgument).map(({ name }) => name);
          return [
            ...sentences(
              isRound && `leads back to ${inner.name}, which ${who} would return without end: ${instead}`,
              isAbstractType(inner) && `is ${inner.name}, of which ${who} cannot know the fields: ${instead}`,
              directiveOf(field.astNode, 'access') &&
                `has its own @access, but ${who} returns every field to all who may call it: ${instead}`,
              needed.length > 0 &&
                `needs ${needed.join(', ')}, which ${who} cannot send: make it nullable, or ${instead}`,
            ).map((gap) => `${type.name}.${field.name} ${gap}`),
            ...(isObjectType(inner) && !isRound ? inside(inner, place, path) : []),
          ];
        }),
    ];
  };
}

function omissionOf({ astNode }: Field): 'LISTS' | 'EVERYWHERE' | undefined {
  return astNode ? omittedFrom(astNode) : undefined;
}

function isStored(type: GraphQLNamedType | undefined): boolean {
  return isObjectType(type) && [type.astNode, ...type.extensionASTNodes].some((node) => directiveOf(node, 'stored'));
}

/** Whether a field leads to stored objects: to one, or to a page of them. */
function returnsStored(schema: GraphQLSchema, field: Field): boolean {
  const inner = getNamedType(field.type);
  const row = inner.name.endsWith(PAGE) ? schema.getType(inner.name.slice(0, -PAGE.length)) : undefined;
  return isStored(inner) || isStored(row);
}

/** Whether a field of a stored type leads to other stored objects. */
function leadsToStored(schema: GraphQLSchema, type: GraphQLObjectType, field: Field): boolean {
  return isStored(type) && returnsStored(schema, field);
}

/** Finds fields whose errors, such as that of a missing scope, would take what is beside them, since they cannot be null. */
function nullGaps(schema: GraphQLSchema): string[] {
  const ofRoots = rootFields(schema).filter(({ type }) => isNonNullType(type));
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const types = Object.values(schema.getTypeMap()).filter((type): type is GraphQLObjectType => isObjectType(type));
  const guarded = types
    .filter((type) => !roots.includes(type))
    .flatMap((type) =>
      Object.values(type.getFields())
        .filter((field) => isNonNullType(field.type) && directiveOf(field.astNode, 'access'))
        .filter((field) => !leadsToStored(schema, type, field))
        .map((field) => `${type.name}.${field.name}`),
    );
  const mutations = schema.getMutationType()?.getFields() ?? {};
  return [
    ...ofRoots.map(
      (field) =>
        `${mutations[field.name] === field ? 'Mutation' : 'Query'}.${field.name} is non-null, so that its error would take the other fields of a GraphQL answer: remove !`,
    ),
    ...guarded.map(
      (place) =>
        `${place} has @access and is non-null, so that whoever may not read it loses what is around it: remove !`,
    ),
  ];
}

/** Finds types without end inside stored ones, which nothing could read the members of. Checked before all else. */
export function endlessGaps(schema: GraphQLSchema): string[] {
  const read = new Set<GraphQLObjectType>();
  const leads = (type: GraphQLObjectType, field: Field): boolean =>
    returnsStored(schema, field) || (isStored(type) && field.name === ETAG);
  const inside = (type: GraphQLObjectType, around: readonly GraphQLObjectType[]): string[] => {
    if (read.has(type)) return [];
    read.add(type);
    const path = [...around, type];
    return Object.values(type.getFields()).flatMap((field) => {
      const inner = getNamedType(field.type);
      if (!isObjectType(inner) || leads(type, field)) return [];
      if (!path.includes(inner)) return inside(inner, path);
      const [stored] = path;
      return [
        `${type.name}.${field.name} leads back to ${inner.name}, but is stored in each ${String(stored?.name)}, without end: remove it, or let it refer to a type with @stored`,
      ];
    });
  };
  return Object.values(schema.getTypeMap()).flatMap((type) =>
    isObjectType(type) && isStored(type) ? inside(type, []) : [],
  );
}
