import { type GraphQLSchema, isObjectType } from 'graphql';
import type { Fault } from '../../errors';
import type { JsonSchema } from '../../schema/jsonSchema';
import { isPageWithAll, itemName, omittedFrom } from '../../schema/restDocument';
import type { Parameter } from './types';
import type { Arguments } from '../routes/routes';
import type { RestOperation } from '../routes/routes';

/*
 * `include` of a list adds a field that list items otherwise lack, such as `lines`. It uses the list's twin in the REST schema
 * (restDocument.ts), so the items are byte for byte what reading each object would return.
 */

/** Maximum page size with `include`, since each row may have hundreds of lines. */
export const MOST_WITH = 50;

/** The parameter, if the list has it. */
export function includeParameter({ rest: { includes } }: RestOperation): Parameter[] {
  if (includes === undefined) return [];
  return [
    {
      name: 'include',
      in: 'query',
      required: false,
      description: `\`${includes}\`: includes the ${includes} of each item. \`limit\` must then be at most ${String(MOST_WITH)}.`,
      schema: { type: 'string', enum: [includes] },
    },
  ];
}

/** Whether the request has `include`. */
export function asksForAll({ include }: Arguments): boolean {
  return include !== undefined;
}

/** Faults of arguments that are too large with `include`. */
export function includeFaults(args: Arguments): Fault[] {
  if (!asksForAll(args) || Number(args.limit ?? 0) <= MOST_WITH) return [];
  return [{ parameter: 'limit', code: 'range', detail: `must be <= ${String(MOST_WITH)} with include` }];
}

/** Adds the fields of `include` to items as optional, instead of separate page types. */
export function describeIncluded(
  schema: GraphQLSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const wholes = wholesOf(schema);
  const pages = Object.entries(schemas).filter(([name]) => !isPageWithAll(name));
  return Object.fromEntries(
    pages.map(([name, item]) => {
      const whole = schemas[wholes.get(name) ?? ''];
      // the added fields are not required
      return [name, whole ? { ...item, properties: { ...includedOf(whole), ...propertiesOf(item) } } : item];
    }),
  );
}

/** The types whose lists omit a field, by the type of the items. */
function wholesOf(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const omitting = types.filter((type) =>
    Object.values(type.getFields()).some(({ astNode }) => astNode && omittedFrom(astNode) === 'LISTS'),
  );
  return new Map(omitting.map(({ name }) => [itemName(name), name]));
}

function includedOf(whole: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const properties = Object.entries(propertiesOf(whole));
  return Object.fromEntries(
    properties.map(([name, property]) => [
      name,
      { ...property, description: `${String(property.description)} Only with \`include=${name}\`.` },
    ]),
  );
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties as Readonly<Record<string, JsonSchema>>;
}
