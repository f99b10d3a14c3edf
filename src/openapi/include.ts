import {
  type DefinitionNode,
  type DocumentNode,
  type GraphQLFieldMap,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type NamedTypeNode,
  type NameNode,
  visit,
} from 'graphql';
import { MAX_LIMIT_WITH_LARGE } from '../rest/routes';
import type { RestOperation } from '../schema/declaredOperations';
import type { JsonSchema } from '../schema/jsonSchema';
import { itemName } from '../schema/openApiNames';
import { omittedFrom } from '../schema/restDocument';
import { directiveOf, isObjectNode, PAGE, Sdl } from '../schema/sdl';
import type { Parameter } from './types';

/*
 * `include` of a list adds a field that its rows otherwise lack, such as `lines`. Rows have a type of their own in the document
 * (`QuoteItem` beside `Quote`), in which that field is optional.
 */

/** The SDL with types for such rows (QuoteItem), which lack the field, in the place of the whole ones in pages. */
export function withItemTypes(document: DocumentNode): DocumentNode {
  const omitting = new Set(
    new Sdl(document).fields.flatMap(({ type, field }) => (omittedFrom(field) === 'LISTS' ? [type] : [])),
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

/** The parameter `include`, if the operation has one. */
export function includeParameter({ rest: { includes } }: RestOperation): Parameter[] {
  if (includes.length === 0) return [];
  const described = includes.map(({ by, isLarge, scope }) => {
    const needs = scope === undefined ? '' : `, which needs the scope \`${scope}\` too`;
    return `\`${by}\`${needs}${isLarge ? `, with \`limit\` at most ${String(MAX_LIMIT_WITH_LARGE)}` : ''}`;
  });
  return [
    {
      name: 'include',
      in: 'query',
      required: false,
      description: `What to add to each object (repeat the parameter for several): ${described.join('; ')}.`,
      schema: { type: 'array', items: { type: 'string', enum: includes.map(({ by }) => by) }, minItems: 1 },
    },
  ];
}

/**
 * Makes the fields of `include` optional in the schemas of components, by name: those that lists omit, which the type of the rows gets back, and
 * those that all objects lack. `schema` is that of {@link withItemTypes}.
 */
export function describeIncluded(
  schema: GraphQLSchema,
  schemas: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  const wholes = wholeTypes(schema);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, component]) => {
      // of QuoteItem: Quote
      const wholeName = wholes.get(name);
      const whole = schemas[wholeName ?? ''];
      const lacking = Object.values(fieldsOf(schema, name)).flatMap((field) =>
        field.astNode && omittedFrom(field.astNode) === 'UNLESS_INCLUDED' ? [field.name] : [],
      );
      // the type of rows lacks what its lists omit
      const fields = fieldsOf(schema, wholeName ?? name);
      const valueOf = (key: string): string => directiveOf(fields[key]?.astNode, 'graphql_only')?.include ?? key;
      if (!whole && lacking.length === 0) return [name, component];
      const ownProperties = propertiesOf(component);
      const addedKeys = whole ? Object.keys(propertiesOf(whole)).filter((key) => !(key in ownProperties)) : [];
      const all = { ...(whole && propertiesOf(whole)), ...ownProperties };
      const optional = [...addedKeys, ...lacking].map((key) => [key, onlyIncluded(valueOf(key), all[key])] as const);
      const required = (component.required as readonly string[]).filter((key) => !lacking.includes(key));
      return [name, { ...component, properties: { ...all, ...Object.fromEntries(optional) }, required }];
    }),
  );
}

function fieldsOf(schema: GraphQLSchema, name: string): GraphQLFieldMap<unknown, unknown> {
  const type = schema.getType(name);
  return isObjectType(type) ? type.getFields() : {};
}

function onlyIncluded(value: string, property: JsonSchema | undefined): JsonSchema {
  return { ...property, description: `${String(property?.description)} Only with \`include=${value}\`.` };
}

/** The types whose lists omit a field, by the type of the rows in these lists: Quote by QuoteItem. */
function wholeTypes(schema: GraphQLSchema): ReadonlyMap<string, string> {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const omitting = types.filter((type) =>
    Object.values(type.getFields()).some(({ astNode }) => astNode && omittedFrom(astNode) === 'LISTS'),
  );
  return new Map(omitting.map(({ name }) => [itemName(name), name]));
}

function propertiesOf({ properties }: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return properties as Readonly<Record<string, JsonSchema>>;
}
