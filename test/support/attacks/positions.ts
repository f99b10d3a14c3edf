import { randomUUID } from 'node:crypto';
import { componentSchemas, type JsonSchema, SCHEMA_ROOT } from '../../../src/schema/jsonSchema';
import { published } from '../../../src/schema/model';
import { bodySchema, type OpenApiOperation } from '../../../src/openapi';
import type { Operation } from '../../../src/schema/declaredOperations';
import type { Json } from '../client';
import type { Arguments } from '../faces';
import { document } from '../openapi';
import { argumentsOf, byId, type Ids, operations, restSchema, takesId } from '../operations';

/* Every position of every operation that takes a value from the caller, read from the OpenAPI document. */

type Step = string | number;

/** A key that nothing declares, in an object that takes any. */
const ANY_KEY = 'any.key';

export interface Position {
  readonly operation: Operation;
  readonly where: 'path' | 'query' | 'body';
  /** Steps from the arguments to the value: `['products', 0, 'sku']`. */
  readonly steps: readonly Step[];
  readonly schema: JsonSchema;
  readonly title: string;
}

/** The document omits the bounds of a bulk call's elements, but samples must keep them. */
const components = componentSchemas(restSchema, { elementBounds: true, closed: true });

export const positions: readonly Position[] = operations.flatMap(positionsOf);

/** Whether the value can be a string. */
export function isText({ schema }: Position): boolean {
  return [schema.type].flat().includes('string');
}

/** Whether that string can have any form. GraphQL refuses the whole call for a malformed id, time or value of an enum. */
export function isFreeText(position: Position): boolean {
  const { format, enum: values } = position.schema as Json;
  return isText(position) && values === undefined && !['uuid', 'date', 'date-time'].includes(format);
}

/** Whether it is a read-only member, which may be sent back with its row (test/api/resources/elements.test.ts). */
export function isIgnored({ operation, steps: [list, , member, ...inner] }: Position): boolean {
  const upsert = published.upserts.find(({ operation: name }) => name === operation.name);
  return upsert?.list === list && inner.length === 0 && upsert!.ignored.includes(String(member));
}

function positionsOf(operation: Operation): Position[] {
  const { rest } = operation;
  if (!rest) return [];
  const described = describedAs(operation);
  const position = (where: Position['where'], steps: readonly Step[], schema: JsonSchema): Position => ({
    operation,
    where,
    steps,
    schema,
    title: `${where} ${steps.join('.')} of ${operation.name}`,
  });
  const parameters = described.parameters
    .filter((parameter) => parameter.in !== 'header')
    .map((parameter) => position(parameter.in as 'path' | 'query', [parameter.name], parameter.schema));
  const body = bodyOf(operation);
  const members = body ? placesIn(body, []).map(({ steps, schema }) => position('body', steps, schema)) : [];
  return [...parameters, ...members];
}

function describedAs({ rest }: Operation): OpenApiOperation {
  return document.paths[rest!.path.replaceAll(/:(\w+)/g, '{$1}')]![rest!.method.toLowerCase()]!;
}

function bodyOf(operation: Operation): JsonSchema | undefined {
  const { requestBody } = describedAs(operation);
  return requestBody && bodySchema(document, requestBody);
}

/** Every member of a schema, recursively; lists by their first item. */
function placesIn(schema: JsonSchema, steps: readonly Step[]): { steps: readonly Step[]; schema: JsonSchema }[] {
  const { properties, items } = partsOf(schema);
  const inner = items ? [[0, items] as const] : Object.entries(properties ?? {});
  return inner.flatMap(([step, found]) => {
    const there = [...steps, step];
    return [{ steps: there, schema: resolved(found) }, ...placesIn(found, there)];
  });
}

interface Parts {
  readonly properties?: Record<string, JsonSchema>;
  readonly items?: JsonSchema;
}

/** What a schema is made of; an object with any keys has one. */
function partsOf(schema: JsonSchema): Parts {
  const { properties, items, additionalProperties: any } = resolved(schema) as Json;
  return typeof any === 'object' ? { properties: { [ANY_KEY]: any } } : { properties, items };
}

function resolved(schema: JsonSchema): JsonSchema {
  const reference = (schema.$ref ?? (schema.anyOf as JsonSchema[] | undefined)?.[0]?.$ref) as string | undefined;
  return reference === undefined ? schema : components[reference.slice(SCHEMA_ROOT.length)]!;
}

/** Valid arguments of the position's operation except for the value there, with the required members of objects. */
export function argumentsWith({ operation, steps, where }: Position, value: unknown, ids: Ids): Arguments {
  if (where !== 'body') return argumentsOf(operation, ids, { [steps[0]!]: value });
  const body = withValue(bodyOf(operation)!, steps, value);
  return { ...(takesId(operation) && byId(operation, ids)), ...(body as Arguments) };
}

/** The smallest value that matches a schema, with `value` at the given position. */
function withValue(schema: JsonSchema, [step, ...more]: readonly Step[], value: unknown): unknown {
  if (step === undefined) return value;
  const { properties, items } = partsOf(schema);
  if (items) return [withValue(items, more, value)];
  const inner = withValue(properties![step]!, more, value);
  return { ...(sampleOf(schema) as object), [step]: inner };
}

let samples = 0;

/** Members that new objects require. */
const NEEDED = ['name', 'total_minor'];

/** The smallest value that matches a schema; strings are unique. */
function sampleOf(schema: JsonSchema): unknown {
  const { type, required, properties = {}, items, format } = resolved(schema) as Json;
  switch ([type].flat()[0]) {
    case 'object':
      // new objects require a name
      return Object.fromEntries(
        [...new Set<string>([...(required ?? []), ...NEEDED.filter((name) => name in properties)])].map((name) => [
          name,
          sampleOf(properties[name]),
        ]),
      );
    case 'array':
      return [sampleOf(items)];
    case 'string':
      return format === 'uuid' ? randomUUID() : `sample ${String((samples += 1))}`;
    case 'integer':
      return 1;
    default:
      throw new Error(`no sample for ${JSON.stringify(schema)}`);
  }
}

export function valueAt(value: Json, steps: readonly Step[]): unknown {
  return steps.reduce((inner: Json, step) => inner?.[step], value);
}
