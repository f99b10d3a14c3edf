import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type NameNode,
  visit,
} from 'graphql';
import { MOST_WITH, type RestOperation } from '../../src/rest/routes';
import type { JsonSchema } from '../../src/schema/jsonSchema';
import { itemName, omittedFrom } from '../../src/schema/restDocument';
import { allFieldNodes, isObjectNode, PAGE } from '../../src/schema/sdl';
import type { Parameter } from './types';

/*
 * `include` of a list adds a field that its rows otherwise lack, such as `lines`. Rows have a type of their own in the document
 * (`QuoteItem` beside `Quote`), in which that field is optional.
 */

/** The SDL with the types of such rows, without the field. */
export function withItemTypes(document: DocumentNode): DocumentNode {
  const omitting = new Set(
    allFieldNodes(document).flatMap(({ type, field }) => (omittedFrom(field) === 'LISTS' ? [type] : [])),
  );
  const itemOf = ({ value }: NameNode): NameNode => ({ kind: Kind.NAME, value: itemName(value) });
  const definitions = document.definitions.flatMap((node): DefinitionNode[] => {
    if (!isObjectNode(node)) return [node];
    if (omitting.has(node.name.value)) {
      const fields = node.fields?.filter((field) => omittedFrom(field) !== 'LISTS') ?? [];
      return [node, { ...node, name: itemOf(node.name), fields }];
    }
    if (!node.name.value.endsWith(PAGE)) return [node];
    const NamedType = {
      enter: ({ kind, name }: NamedTypeNode) => (omitting.has(name.value) ? { kind, name: itemOf(name) } : undefined),
    };
    return [visit(node, { NamedType })];
  });
  return { ...document, definitions };
}

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

/** Adds the fields of `include` to rows, as optional ones. */
export function describeIncluded(
  schema: GraphQLSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const wholes = wholesOf(schema);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, item]) => {
      const whole = schemas[wholes.get(name) ?? ''];
      // the added fields are not required
      return [name, whole ? { ...item, properties: { ...includedOf(whole), ...propertiesOf(item) } } : item];
    }),
  );
}

/** The types whose lists omit a field, by the type of the rows. */
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
