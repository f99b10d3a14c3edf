import {
  type GraphQLFieldConfigArgumentMap,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
} from 'graphql';
import { perElement } from '../schema/declaredOperations';

/* Bulk calls: an element of the wrong type fails on its own, so neither Sofa nor graphql may parse elements before they are validated. */

/** Any value, passed through unchanged. */
const Element = new GraphQLScalarType({ name: 'Element', serialize: (value) => value, parseValue: (value) => value });
const ELEMENTS = new GraphQLNonNull(new GraphQLList(Element));

/** The schema with elements of bulk calls passed to resolvers as sent. Shares all other types. */
export function withRawElements(schema: GraphQLSchema): GraphQLSchema {
  const mutations = schema.getMutationType();
  if (!mutations) return schema;
  const config = mutations.toConfig();
  const fields = Object.entries(config.fields).map(([name, field]) => {
    const raw = perElement(mutations.getFields()[name]?.args ?? []);
    return [name, { ...field, args: withElements(field.args ?? {}, raw) }] as const;
  });
  const mutation = new GraphQLObjectType({ ...config, fields: Object.fromEntries(fields) });
  const { types, ...others } = schema.toConfig();
  return new GraphQLSchema({ ...others, mutation, types: types.filter((type) => type !== mutations) });
}

function withElements(args: GraphQLFieldConfigArgumentMap, raw: readonly string[]): GraphQLFieldConfigArgumentMap {
  const changed = raw.map((name) => [name, { ...args[name], type: ELEMENTS }] as const);
  return { ...args, ...Object.fromEntries(changed) };
}
