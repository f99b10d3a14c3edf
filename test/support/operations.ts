import {
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { type Scope, scopeOf } from '../../src/auth/scopes';
import { publishedSchemas } from '../../src/gateway/schemas';
import { PAIRS_SCALAR } from '../../src/schema/metadata';
import { METHODS, type Operation } from '../../src/schema/declaredOperations';
import { omittedFrom } from '../../src/schema/restDocument';
import { directiveOf } from '../../src/schema/sdl';
import type { Answer, Client, Json } from './client';
import { mcpFaceOf } from './mcpFace';

export const schemas = publishedSchemas();
export const { operations: allOperations, graphql: graphqlSchema, rest: restSchema } = schemas;

/** Operations for keys; the others are for signed-in users (test/security/roles.test.ts). */
export const operations = allOperations.filter(({ role }) => role === undefined);
export const userOperations = allOperations.filter(({ role }) => role !== undefined);

/** Ids of one row of each resource. */
export interface Ids {
  readonly product: string;
  readonly customer: string;
  readonly quote: string;
  readonly order: string;
  readonly request: string;
}

type Arguments = Record<string, unknown>;

/** Valid arguments of operations that need any. Repeated calls give the same answer. */
const ARGUMENTS: Record<string, (ids: Ids) => Arguments> = {
  request_messages: (ids) => ({ id: ids.request, limit: 1 }),
  upsert_products: () => ({ products: [{ sku: 'CONTRACT-1', name: 'Contract' }, { name: 'No sku' }], dry_run: true }),
  upsert_customers: () => ({
    customers: [{ external_ref: 'CONTRACT-1', name: 'Contract' }, { external_ref: 'CONTRACT-2' }],
    dry_run: true,
  }),
  upsert_invoices: () => ({
    invoices: [{ number: 'CONTRACT-1', total_minor: 1 }, { number: 'CONTRACT-2' }],
    dry_run: true,
  }),
  invoice_totals: () => ({ group_by: ['STATUS', 'MONTH', 'CUSTOMER'] }),
  quote_totals: () => ({ group_by: ['STATUS', 'MONTH', 'CUSTOMER'] }),
  order_totals: () => ({ group_by: ['STATUS', 'MONTH', 'CUSTOMER'] }),
  product_sales: () => ({ limit: 100 }),
  open_request: (ids) => ({ text: 'Do you deliver to Leeds?', customer_id: ids.customer, contact: { name: 'Ann' } }),
  update_product: (ids) => ({ id: ids.product, lead_time_days: 7 }),
  update_customer: (ids) => ({ id: ids.customer }),
  update_invoice: (ids) => ({ ...byName('invoice', ids), status: 'paid' }),
  update_request: (ids) => ({ id: ids.request, status: 'open' }),
  add_request_message: (ids) => ({ id: ids.request, text: 'And to York?' }),
};

/** Arguments of a user operation, valid if `id` is. */
export function userArguments({ name }: Operation, id: string): Arguments {
  const all: Record<string, Arguments> = {
    create_key: { name: 'made', scopes: ['quotes:read'] },
    rotate_key: { key_id: id, overlap_hours: 1 },
    update_key: { key_id: id, name: 'renamed' },
    revoke_key: { key_id: id },
    key: { key_id: id },
    usage: { key_id: id, period: 'last_24h' },
    logged_request: { id },
    usage_by_key: { period: 'last_24h' },
    request_counts: { code: 'not_found' },
    create_invitation: { name: 'Ann', role: 'member' },
    revoke_invitation: { invitation_id: id },
    webhook_deliveries: { webhook_id: id },
    create_webhook: { url: 'https://hooks.example.com/scopegate' },
    update_webhook: { webhook_id: id, types: ['order.created'] },
    rotate_webhook: { webhook_id: id },
    enable_webhook: { webhook_id: id },
    disable_webhook: { webhook_id: id },
    delete_webhook: { webhook_id: id },
    send_test_event: { webhook_id: id },
    resend_event: { webhook_id: id, delivery: `${id}.0` },
    webhook_delivery: { webhook_id: id, delivery: `${id}.0` },
    webhook_statistics: { period: 'last_24h' },
    webhook_message: { webhook_id: id, delivery: `${id}.0` },
  };
  return all[name] ?? {};
}

/** Members of answers that differ between calls. */
const VOLATILE: Record<string, readonly string[]> = {
  me: ['rate_limit', 'organisation_rate_limit'],
  open_request: ['id', 'created_at', 'updated_at', 'last_message_at'],
  add_request_message: ['id', 'created_at'],
  update_request: ['updated_at'],
};

/** An API through which operations are called. */
export interface Face {
  readonly name: 'REST' | 'GraphQL' | 'MCP';
  call(caller: Client, operation: Operation, args: Arguments, headers?: Record<string, string>): Promise<Answer>;
  valueOf(answer: Answer, operation: Operation): Json;
  /** The error in an answer; undefined if there is none. */
  errorOf(answer: Answer): Json;
}

export const REST: Face = {
  name: 'REST',
  call: (caller, { rest }, args, headers = {}) => {
    const others = { ...args };
    const path = rest!.path.replaceAll(/:(\w+)/g, (_match, name: string) => {
      const value = others[name] as string;
      // oxlint-disable-next-line typescript/no-dynamic-delete -- a path parameter is not sent again in the body or query
      delete others[name];
      return value;
    });
    const { method } = rest!;
    if (method === 'GET') return caller.get(path, others, headers);
    if (method === 'POST') return caller.post(path, others, headers);
    const { if_match: ifMatch, ...body } = others;
    const json = METHODS[method].hasBody && { 'content-type': 'application/json' };
    const version = typeof ifMatch === 'string' && { 'if-match': ifMatch };
    return caller.send(method, path, {
      ...(json && { body: JSON.stringify(body) }),
      headers: { ...json, ...version, ...headers },
    });
  },
  valueOf: ({ body }) => body,
  errorOf: ({ status, body }) => (status < 400 ? undefined : body),
};

export const GRAPHQL: Face = {
  name: 'GraphQL',
  call: (caller, operation, args, headers = {}) => caller.graphql(documentOf(operation), withPairs(args), headers),
  valueOf: ({ body }, { name }) => withObjects(body.data[name]),
  errorOf: ({ body }) => body.errors?.[0].extensions,
};

/** Arguments with metadata as GraphQL takes it, which tests write as REST does. */
function withPairs(args: Json): Json {
  return changedMetadata(args, (given) =>
    typeof given === 'object' && given !== null && !Array.isArray(given)
      ? Object.entries(given).map(([key, value]) => ({ key, value }))
      : given,
  );
}

/** What GraphQL answers, with metadata as REST has it. */
export function withObjects(value: Json): Json {
  return changedMetadata(value, (pairs: Json) =>
    Array.isArray(pairs) ? Object.fromEntries(pairs.map(({ key, value: one }: Json) => [key, one])) : pairs,
  );
}

function changedMetadata(value: Json, change: (metadata: Json) => Json): Json {
  if (Array.isArray(value)) return value.map((one) => changedMetadata(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value as object).map(([name, member]) => [
      name,
      name === 'metadata' ? change(member) : changedMetadata(member, change),
    ]),
  );
}

export const MCP = mcpFaceOf(schemas);

/** The APIs that programs call, for tests of what operations do; that MCP does the same is tested by {@link CALLS}. */
export const FACES: readonly Face[] = [REST, GRAPHQL];
export const ALL_FACES: readonly Face[] = [...FACES, MCP];

export function facesOf(operation: Operation): readonly Face[] {
  return operation.rest ? ALL_FACES : [GRAPHQL, MCP];
}

/** Every operation with each of its APIs, for `test.each`. */
export const CALLS: readonly { operation: Operation; face: Face }[] = operations.flatMap((operation) =>
  facesOf(operation).map((face) => ({ operation, face })),
);

/** Valid arguments of an operation; `changes` replaces some of them. */
export function argumentsOf(operation: Operation, ids: Ids, changes: Arguments = {}): Arguments {
  const args = { ...(ARGUMENTS[operation.name]?.(ids) ?? byId(operation, ids)), ...changes };
  const missing = fieldOf(operation, graphqlSchema).args.filter(
    ({ type, name }) => isNonNullType(type) && !(name in args),
  );
  if (missing.length > 0) throw new Error(`add arguments of ${operation.name} to test/support/operations.ts`);
  return args;
}

/** The id argument of other operations that read or write one object. */
export function byId(operation: Operation, ids: Ids): Arguments {
  const { id: own } = ARGUMENTS[operation.name]?.(ids) ?? {};
  if (own !== undefined) return { id: own };
  const { name } = takesId(operation) ? readerOf(getNamedType(fieldOf(operation, graphqlSchema).type)) : operation;
  return byName(name, ids);
}

function byName(name: string, ids: Ids): Arguments {
  const id = new Map(Object.entries(ids)).get(name) as string | undefined;
  return id === undefined ? {} : { id };
}

/** The operation that reads one object of a type. */
function readerOf(type: GraphQLNamedType): Operation {
  const [reader] = readersOf(type);
  if (!reader) throw new Error(`no operation reads one ${type.name}`);
  return reader;
}

function readersOf(type: GraphQLNamedType): Operation[] {
  return operations.filter(
    (operation) => operation.kind === 'Query' && takesId(operation) && fieldOf(operation, graphqlSchema).type === type,
  );
}

export function takesId(operation: Operation): boolean {
  return fieldOf(operation, graphqlSchema).args.some(
    ({ name, type }) => name === 'id' && !isListType(getNullableType(type)),
  );
}

/** A value without the members that differ between calls. */
export function lasting({ name }: Operation, value: Json): Json {
  return Object.fromEntries(Object.entries(value as object).filter(([member]) => !VOLATILE[name]?.includes(member)));
}

/** A document that selects everything that REST returns. */
export function documentOf(operation: Operation): string {
  const field = fieldOf(operation, operation.rest ? restSchema : graphqlSchema);
  const declared = fieldOf(operation, graphqlSchema)
    .args.map(({ name, type }) => `$${name}: ${String(type)}`)
    .join(', ');
  const passed = field.args.map(({ name }) => `${name}: $${name}`).join(', ');
  const [variables, args] = field.args.length > 0 ? [`(${declared})`, `(${passed})`] : ['', ''];
  return `${operation.kind.toLowerCase()}${variables} { ${operation.name}${args}${selectionOf(field)} }`;
}

function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type);
  if (type.name === PAIRS_SCALAR) return ' { key value }';
  if (!isObjectType(type)) return '';
  const isList = isListType(getNullableType(field.type));
  const fields = Object.values(type.getFields()).filter(
    ({ args, astNode }) =>
      args.length === 0 && !directiveOf(astNode, 'access') && !(isList && omittedFrom(astNode!) === 'LISTS'),
  );
  return ` { ${fields.map((inner) => inner.name + selectionOf(inner)).join(' ')} }`;
}

function fieldOf({ name, kind }: Operation, schema: GraphQLSchema): GraphQLField<unknown, unknown> {
  return (schema.getType(kind) as GraphQLObjectType).getFields()[name]!;
}

export interface Relation {
  readonly parent: string;
  readonly name: string;
  readonly scope: Scope;
  /** The operation that reads the parent. */
  readonly operation: Operation;
  /** Reads the parent's id and the relation; takes `$id`. */
  readonly document: string;
}

/** Every field with @access of an object that can be read by its id. */
export const RELATIONS: readonly Relation[] = Object.values(graphqlSchema.getTypeMap())
  .filter(isObjectType)
  .filter((type) => readersOf(type).length > 0)
  .flatMap((type) =>
    Object.values(type.getFields()).flatMap((field) => {
      const access = directiveOf(field.astNode, 'access');
      return access ? [relation(type, field, scopeOf(String(access.scope)))] : [];
    }),
  );

function relation(parent: GraphQLObjectType, field: GraphQLField<unknown, unknown>, scope: Scope): Relation {
  const operation = readerOf(parent);
  const document = `query($id: ID!) { ${operation.name}(id: $id) { id ${field.name}${selectionOf(field)} } }`;
  return { parent: parent.name, name: field.name, scope, operation, document };
}
