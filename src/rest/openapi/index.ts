import { type GraphQLArgument, type GraphQLField, type GraphQLNamedType, type GraphQLSchema, Kind } from 'graphql';
import {
  argumentsSchema,
  componentSchemas,
  type JsonSchema,
  MAY_BE_EMPTY,
  parameterSchema,
  rootFields,
} from '../../schema/jsonSchema';
import { METHODS } from '../../schema/methods';
import type { Operation } from '../../schema/operations';
import { directiveOf, stringArgument } from '../../schema/sdl';
import { perElement } from '../routes/elements';
import { describeIncluded, includeParameter } from './include';
import { readsOneObject, type RestOperation, restOperations } from '../routes/routes';
import { linksOf } from './links';
import { answersPage, type Linked, operationId } from './operationId';
import { IDEMPOTENCY_KEY, IF_NONE_MATCH, NOT_MODIFIED } from './retries';
import { errorResponses, HEAD_TOO_LARGE, headerRefs, sharedHeaders, sharedResponses, SUCCESS_HEADERS } from './answers';
import examples from './examples.json';
import { PROBLEM_SCHEMAS } from './problemSchemas';
import type { OpenApiDocument, OpenApiOperation, Parameter } from './types';

export type { OpenApiDocument, OpenApiOperation, Parameter, RequestBody } from './types';

/** OpenAPI 3.1 from the REST schema: what requests are checked against is what is published. */
export function buildOpenApi(schema: GraphQLSchema, operations: readonly Operation[]): OpenApiDocument {
  const fields = new Map(rootFields(schema).map((field) => [field.name, field]));
  const linked = restOperations(operations).map((operation): Linked => {
    const field = fields.get(operation.name);
    if (!field) throw new Error(`${operation.name} is not in the REST schema`);
    return { operation, field };
  });
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const one of linked) {
    const { path: template, method } = one.operation.rest;
    const path = template.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(schema, one, linksOf(one, linked)) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Scopegate',
      version: '1.0.0',
      description: [
        "An organisation's quotes, products, orders, customers and request threads. Fields are snake_case, money is an integer",
        'in minor units, times are ISO 8601 UTC with milliseconds, ids are UUIDs. Lists are keyset pages: follow `Link` or',
        '`next_cursor`. Every answer has `X-Request-Id`; errors are problem documents (RFC 9457) with a stable `code`.',
      ].join(' '),
      contact: { name: 'Whoever runs this gateway' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api/v1' }],
    tags: tagsOf(schema, operations),
    paths,
    components: {
      securitySchemes: {
        api_key: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key: `Authorization: Bearer svc_live_…`. The scope an operation needs stands beside it.',
        },
      },
      schemas: openAnswers({
        ...describeIncluded(componentSchemas(schema, { elementBounds: false, closed: false })),
        ...PROBLEM_SCHEMAS,
      }),
      responses: sharedResponses(),
      headers: sharedHeaders(),
    },
  };
}

/**
 * Says of every object that is not closed that it is open: an answer may have members that are new. Left unsaid it means the
 * same, yet clients that openapi-generator makes (Java, Go) then throw at the first member they do not know.
 */
function openAnswers(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const open = (schema: JsonSchema): JsonSchema =>
    schema.type === 'object' ? { additionalProperties: true, ...schema } : schema;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, open(schema)]));
}

type Field = GraphQLField<unknown, unknown>;
type Examples = Readonly<Record<string, unknown>>;

/** Rows of the Northwind sample (examples/northwind), by operation or parameter. */
const parameterExamples: Examples = examples.parameters;
const requestExamples: Examples = examples.requests;
const responseExamples: Examples = examples.responses;

function describe(schema: GraphQLSchema, { operation, field }: Linked, links: object): OpenApiOperation {
  const { rest, scope, name } = operation;
  const { hasBody, root } = METHODS[rest.method];
  const isWrite = root === 'Mutation';
  const inPath = (argument: GraphQLArgument): boolean => rest.path.split('/').includes(`:${argument.name}`);
  const description = field.description ?? '';
  const bodyArguments = hasBody ? field.args.filter((argument) => !inPath(argument)) : [];
  const judgedAlone = perElement(bodyArguments);
  return {
    operationId: operationId({ operation, field }),
    summary: /^.*?[.](?= |$)/s.exec(description)?.[0] ?? description,
    description: `${description}\n\n${scope ? `Needs the scope \`${scope}\`.` : 'Any valid key may call it.'}`,
    tags: [tagOf(rest.path)],
    ...(field.deprecationReason != null && { deprecated: true }),
    security: [{ api_key: scope ? [scope] : [] }],
    parameters: [
      ...field.args
        .filter((argument) => !bodyArguments.includes(argument))
        .map((argument) => parameter(schema, name, argument, inPath(argument))),
      ...includeParameter(operation),
      ...(isWrite ? [IDEMPOTENCY_KEY] : []),
      ...(readsOneObject(operation) ? [IF_NONE_MATCH] : []),
    ],
    ...(hasBody && {
      requestBody: {
        required: true,
        ...(judgedAlone.length > 0 && { 'x-per-element': judgedAlone }),
        content: {
          'application/json': { schema: argumentsSchema(schema, bodyArguments), example: requestExamples[name] },
        },
      },
    }),
    responses: {
      [rest.status]: success(operation, field, links),
      ...(readsOneObject(operation) && { 304: NOT_MODIFIED }),
      ...errorResponses(operation, field.args.some(inPath)),
      431: HEAD_TOO_LARGE,
    },
  };
}

function parameter(schema: GraphQLSchema, operation: string, argument: GraphQLArgument, isPath: boolean): Parameter {
  const example = parameterExamples[`${operation}.${argument.name}`] ?? parameterExamples[argument.name];
  return {
    name: argument.name,
    in: isPath ? 'path' : 'query',
    required: isPath,
    description: argument.description ?? '',
    ...(!isPath && argument.name === MAY_BE_EMPTY && { allowEmptyValue: true }),
    schema: parameterSchema(schema, argument),
    ...(example === undefined ? {} : { example }),
  };
}

function success(operation: RestOperation, field: Field, links: object): object {
  const { name, rest } = operation;
  const type = String(field.type).replace('!', '');
  const headers = [
    ...SUCCESS_HEADERS,
    ...(answersPage(field) ? ['Link'] : []),
    ...(rest.status === 201 ? ['Location'] : []),
    ...(METHODS[rest.method].root === 'Mutation' ? ['Idempotent-Replayed'] : []),
    ...(readsOneObject(operation) ? ['ETag'] : []),
  ];
  return {
    description: field.description ?? type,
    headers: { ...headerRefs(headers), ...(operation.sunset && SUNSET_HEADERS) },
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${type}` }, example: responseExamples[name] },
    },
    ...(Object.keys(links).length > 0 && { links }),
  };
}

/** Headers of a response of an operation with an announced end. */
const SUNSET_HEADERS = {
  Deprecation: { description: 'Since when the operation is deprecated (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'When the operation stops working (RFC 8594).', schema: { type: 'string' } },
};

function tagOf(path: string): string {
  return path.split('/')[1] ?? '';
}

function tagsOf(schema: GraphQLSchema, operations: readonly Operation[]): object[] {
  const tags = new Set(restOperations(operations).map(({ rest }) => tagOf(rest.path)));
  return [...tags].map((name) => ({ name, description: TAGS[name] ?? storedDescription(schema, name) ?? name }));
}

/** What the SDL says of the type whose objects stand in a collection. */
function storedDescription(schema: GraphQLSchema, collection: string): string | undefined {
  const isStored = ({ astNode }: GraphQLNamedType): boolean => {
    const stored = astNode?.kind === Kind.OBJECT_TYPE_DEFINITION ? directiveOf(astNode, 'stored') : undefined;
    return stored !== undefined && stringArgument(stored, 'collection') === collection;
  };
  return Object.values(schema.getTypeMap()).find(isStored)?.description ?? undefined;
}

const TAGS: Record<string, string> = {
  products: 'What the organisation sells.',
  customers: 'Whom it sells to.',
  quotes: 'What it offers.',
  orders: 'What was ordered.',
  requests: 'Threads of messages with customers.',
  me: 'The calling key.',
};
