import { type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';

/* The parts of OpenAPI 3.1 that the document uses. */

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly deprecated?: boolean;
  /** An empty value means that the parameter is not set. */
  readonly allowEmptyValue?: boolean;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface RequestBody {
  readonly required: boolean;
  /** Lists whose elements are validated individually: an invalid element fails on its own, and the response is 200. */
  readonly 'x-per-element'?: readonly string[];
  readonly content: {
    readonly 'application/json': { readonly schema: { readonly $ref: string }; readonly example?: unknown };
  };
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Readonly<Record<string, object>>;
}

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: object;
  readonly servers: readonly object[];
  readonly tags: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The schema of a body, which is a component. @throws Error if the document lacks it */
export function bodySchema({ components }: OpenApiDocument, { content }: RequestBody): JsonSchema {
  const { $ref } = content['application/json'].schema;
  const schema = components.schemas?.[$ref.slice(SCHEMA_ROOT.length)];
  if (schema === undefined) throw new Error(`there is no schema ${$ref}`);
  return schema as JsonSchema;
}
