import { makeExecutableSchema } from '@graphql-tools/schema';
import { getNamedType, type GraphQLArgument, type GraphQLSchema, isObjectType, isRequiredArgument } from 'graphql';
import {
  argumentsSchema,
  componentSchemas,
  describedWith,
  type JsonSchema,
  MAY_BE_EMPTY,
  parameterSchema,
  rootFields,
  SCHEMA_ROOT,
} from '../schema/jsonSchema';
import { OMITTED } from '../http/answer';
import { IF_MATCH, IF_MATCH_HEADER, IF_MATCH_PATTERN } from '../schema/entityTags';
import { isInBody, isInPath, METHODS, type Operation, perElement } from '../schema/declaredOperations';
import { operatorModel, published, type SchemaModel } from '../schema/model';
import { bodyName, changedName } from '../schema/openApiNames';
import { requirement } from '../schema/requirements';
import { deriveRestDocument } from '../schema/restDocument';
import { scalars } from '../schema/scalars';
import { directiveOf } from '../schema/sdl';
import { version } from '../package';
import { describeIncluded, includeParameter, withItemTypes } from './include';
import { answersPage, hasEntityTag, locationOf, hasOptionalBody, readsOneObject, restOperations } from '../rest/routes';
import { attachmentPaths } from './attachments';
import { type Endpoint, linksOf, operationIdOf } from './links';
import { IF_MATCH_EXAMPLE, IF_NONE_MATCH_OF_WRITE, NOT_MODIFIED, READ_CONDITIONS, withExampleKey } from './retries';
import { aboutKeyApi, type Api, KEY_API, OPERATOR_API } from './apis';
import { errorResponses, HEAD_TOO_LARGE, headerRefs, optional, sharedHeaders, sharedResponses } from './answers';
import { parameterExample, refuseMissingExamples, requestExample, responseExample } from './examples';
import { problemSchemas } from './problemSchemas';
import type { OpenApiDocument, OpenApiOperation, Parameter } from './types';
import { withWrites } from './writes';
import { writeLines } from './writeLines';

export { bodySchema } from './types';
export type { OpenApiDocument, OpenApiOperation, Parameter, RequestBody } from './types';

/** The OpenAPI 3.1 document of the API of keys, with the server's address if known, and the name and purpose of the site (BRAND_NAME, BRAND_DESCRIPTION). */
export function keyDocument(publicUrl = '', title = KEY_API.title, purpose?: string): OpenApiDocument {
  const description = purpose === undefined ? KEY_API.description : aboutKeyApi(purpose);
  return buildOpenApi(published, { ...KEY_API, title, description }, publicUrl);
}

/** The OpenAPI 3.1 document of the operators' API, with the server's address if known. */
export const operatorDocument = (publicUrl = '', name = KEY_API.title): OpenApiDocument =>
  buildOpenApi(operatorModel(), { ...OPERATOR_API, title: `${name} operator API` }, publicUrl);

/** Builds the document of a REST API from the SDL, which takes a tenth of a second: keep what it returns. */
export function buildOpenApi(sdl: SchemaModel, api: Api = KEY_API, publicUrl = ''): OpenApiDocument {
  const { operations } = sdl;
  const schema = makeExecutableSchema({
    typeDefs: withItemTypes(deriveRestDocument(sdl)),
    resolvers: scalars,
    resolverValidationOptions: { requireResolversToMatchSchema: 'ignore' },
  });
  const fields = new Map(rootFields(schema).map((field) => [field.name, field]));
  const endpoints = restOperations(operations).map((operation): Endpoint => {
    const field = fields.get(operation.name);
    if (!field) throw new Error(`${operation.name} is not in the REST schema`);
    return { operation, field };
  });
  refuseMissingExamples(endpoints);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const endpoint of endpoints) {
    const { path: template, method } = endpoint.operation.rest;
    const path = template.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [method.toLowerCase()]: describe(endpoint, endpoints, api) };
  }
  if (api.path === KEY_API.path) Object.assign(paths, attachmentPaths(sdl.attachables, api));
  if (api.path === OPERATOR_API.path) paths[WRITE_LINES_PATH] = { post: writeLines(api) };
  const allOperations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const statuses = new Set(allOperations.flatMap(({ responses }) => Object.keys(responses).map(Number)));
  const responses = sharedResponses(statuses, api);
  const referringText = JSON.stringify([paths, responses]);
  const schemas = describeIncluded(schema, componentSchemas(schema, { elementBounds: false, closed: false }));
  return {
    openapi: '3.1.0',
    info: {
      title: api.title,
      version,
      description: api.description,
      contact: { name: 'The operator of this gateway' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `${publicUrl}${api.path}` }],
    tags: tagsOf(schema, Object.keys(paths)),
    paths,
    components: {
      securitySchemes: {
        [api.security[0]]: { type: 'http', scheme: 'bearer', description: api.security[1] },
      },
      schemas: openAnswers({
        ...withWrites(schemas, published),
        ...changedSchemas(endpoints, schemas),
        ...problemSchemas(statuses, api),
        ...Object.fromEntries(
          endpoints
            .filter(({ operation: { rest } }) => METHODS[rest.method].hasBody)
            .map((endpoint) => [bodyName(endpoint.operation.rest), argumentsSchema(bodyArguments(endpoint))]),
        ),
      }),
      responses,
      headers: Object.fromEntries(
        Object.entries(sharedHeaders(api)).filter(([name]) => referringText.includes(`/headers/${name}"`)),
      ),
    },
  };
}

/**
 * Marks all objects that are not closed as open, since responses may have new members. That is the default, but clients
 * generated by openapi-generator (Java, Go) throw on unknown members without it.
 */
function openAnswers(schemas: Readonly<Record<string, JsonSchema>>): Record<string, JsonSchema> {
  const open = (schema: JsonSchema): JsonSchema =>
    schema.type === 'object' ? { additionalProperties: true, ...schema } : schema;
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, open(schema)]));
}

/** The operation in the document; `all` are those that its links may lead to. */
function describe(endpoint: Endpoint, all: readonly Endpoint[], api: Api): OpenApiOperation {
  const { operation, field } = endpoint;
  const { rest } = operation;
  const { hasBody, root } = METHODS[rest.method];
  const isWrite = root === 'Mutation';
  const inPath = ({ name }: GraphQLArgument): boolean => isInPath(rest.path, name);
  const description = field.description ?? '';
  const inBody = bodyArguments(endpoint);
  const perElementLists = perElement(inBody);
  return {
    operationId: operationIdOf(endpoint),
    // its first sentence
    summary: /^.*?[.](?= |$)/s.exec(description)?.[0] ?? description,
    description: `${describedWith(field) ?? ''}\n\n${requirement(operation)}`,
    tags: [tagOf(rest.path)],
    ...(field.deprecationReason != null && { deprecated: true }),
    security: scopesOf(operation).map((scopes) => ({ [api.security[0]]: scopes })),
    parameters: [
      ...field.args
        .filter((argument) => !inBody.includes(argument))
        .map((argument) => parameter(endpoint, argument, inPath(argument))),
      ...includeParameter(operation),
      ...(isWrite ? [withExampleKey(api.idempotencyKey, operation.name)] : []),
      ...(operation.takesIfMatch ? [IF_NONE_MATCH_OF_WRITE] : []),
      ...(readsOneObject(operation) ? READ_CONDITIONS : []),
    ],
    ...(hasBody && {
      requestBody: {
        required: !hasOptionalBody(operation, field),
        ...(perElementLists.length > 0 && { 'x-per-element': perElementLists }),
        content: {
          'application/json': {
            schema: { $ref: SCHEMA_ROOT + bodyName(rest) },
            example: requestExample(endpoint, inBody),
          },
        },
      },
    }),
    responses: {
      ...(api.findExisting?.includes(operation.name) && { 200: success(endpoint, all, api) }),
      [rest.status]: success(endpoint, all, api),
      ...(readsOneObject(operation) && { 304: NOT_MODIFIED }),
      ...errorResponses(operation, {
        api,
        hasId: field.args.some(inPath),
        // only feeds, whose rows are kept for a limited time, are read with `after`
        expires: field.args.some(({ name }) => name === AFTER),
      }),
      431: HEAD_TOO_LARGE,
    },
  };
}

function bodyArguments({ operation: { rest }, field }: Endpoint): GraphQLArgument[] {
  return field.args.filter(({ name }) => isInBody(rest, name));
}

/** The alternatives of scopes that a key needs, as OpenAPI has them: one without scopes means any key. */
function scopesOf({ scope, anyOf }: Operation): string[][] {
  return anyOf ? anyOf.map((alternative) => [alternative]) : [scope ? [scope] : []];
}

function parameter(endpoint: Endpoint, argument: GraphQLArgument, isPath: boolean): Parameter {
  const isHeader = argument.name === IF_MATCH;
  const example = isHeader ? IF_MATCH_EXAMPLE : parameterExample(endpoint, argument);
  return {
    name: isHeader ? IF_MATCH_HEADER : argument.name,
    in: isPath ? 'path' : isHeader ? 'header' : 'query',
    required: isPath || isRequiredArgument(argument),
    description: describedWith(argument) ?? '',
    ...(argument.deprecationReason != null && { deprecated: true }),
    ...(!isPath && argument.name === MAY_BE_EMPTY && { allowEmptyValue: true }),
    schema: { ...parameterSchema(argument), ...(isHeader && { pattern: IF_MATCH_PATTERN }) },
    ...(example === undefined ? {} : { example }),
  };
}

/** The name of the type of an answer. */
const answerName = ({ type }: Endpoint['field']): string => getNamedType(type).name;

/** Schemas of the answers to changes, by name: the whole object, of which only the id is certain. */
function changedSchemas(
  endpoints: readonly Endpoint[],
  schemas: Readonly<Record<string, JsonSchema>>,
): Record<string, JsonSchema> {
  return Object.fromEntries(
    endpoints.flatMap(({ operation: { readScope }, field }) => {
      const whole = schemas[answerName(field)];
      if (readScope === undefined || !whole) return [];
      const description = `${String(whole.description)} To a key without the scope \`${readScope}\`: \`id\` and the members that were sent.`;
      return [[changedName(answerName(field)), { ...whole, description, required: ['id'] }] as const];
    }),
  );
}

/** The response to an operation that succeeded. */
function success(endpoint: Endpoint, all: readonly Endpoint[], api: Api): object {
  const links = linksOf(endpoint, all);
  const { operation, field } = endpoint;
  const { rest } = operation;
  const operations = all.map((other) => other.operation);
  // a key that may write but not read gets only a part of the object
  const mayBePartial = operation.readScope !== undefined;
  const type = mayBePartial ? changedName(answerName(field)) : answerName(field);
  const headers = [
    ...api.headers,
    ...(answersPage(field) ? ['Link', ...(api.credential === 'key' ? [OMITTED] : [])] : []),
    ...(locationOf(operation, operations) === undefined ? [] : ['Location']),
    ...(rest.status === 202 ? ['Retry-After'] : []),
    ...(METHODS[rest.method].root === 'Mutation' ? ['Idempotent-Replayed'] : []),
    ...(hasEntityTag(operation) ? [rest.includes.length > 0 || mayBePartial ? optional('ETag') : 'ETag'] : []),
  ];
  return {
    description: field.description ?? type,
    headers: {
      ...headerRefs(headers),
      ...(operation.sunset && SUNSET_HEADERS),
    },
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${type}` }, example: responseExample(endpoint) },
    },
    ...(Object.keys(links).length > 0 && { links }),
  };
}

/** Headers of a response of an operation with an announced end. */
const SUNSET_HEADERS = {
  Deprecation: { description: 'Since when the operation is deprecated (RFC 9745).', schema: { type: 'string' } },
  Sunset: { description: 'When the operation stops working (RFC 8594).', schema: { type: 'string' } },
};

/** The first word of a path, by which documentation groups operations. */
function tagOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** The tags of the paths, in their order. */
function tagsOf(schema: GraphQLSchema, paths: readonly string[]): object[] {
  return [...new Set(paths.map(tagOf))].map((name) => ({
    name,
    description: TAGS[name] ?? storedDescription(schema, name) ?? name,
  }));
}

function storedDescription(schema: GraphQLSchema, collection: string): string | undefined {
  const types = Object.values(schema.getTypeMap()).filter(isObjectType);
  const stored = types.find(({ astNode }) => directiveOf(astNode, 'stored')?.collection === collection);
  return stored?.description ?? undefined;
}

/** The argument with the cursor of a feed. */
const AFTER = 'after';

/** The path of the stream of writes, which is no operation of the SDL. */
const WRITE_LINES_PATH = '/writes';

/** What tags are for; any other, that of a type of the user's folder, has the description of the type. */
const TAGS: Record<string, string> = {
  products: 'Products of the organisation.',
  customers: 'Customers of the organisation.',
  quotes: 'Quotes to customers.',
  orders: 'Orders from customers.',
  requests: 'Threads of messages with customers.',
  me: 'The calling key.',
  events: 'What changed in the organisation.',
  organisations: 'Organisations, and what belongs to each.',
  jobs: 'Erasures and moves.',
  plans: 'Plans that organisations can be on.',
  shards: 'Where organisations are placed.',
  writes: 'Writes to many organisations.',
};
