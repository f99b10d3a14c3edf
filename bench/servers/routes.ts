import { mongo } from 'mongoose';
import { objectTag, matchesTag } from '../../src/schema/entityTags';
import { createAdmission } from './access';
import { databasesOf, listQuotes, readQuote, readTotal, type ProductUpsert, upsertProducts } from './operations';
import { closeAtEnd } from './settings';

/* The routes of the hand-written servers, shared by bare node:http and Fastify. */

export interface PlainRequest {
  readonly authorization: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
}

export interface Routes {
  quote(request: PlainRequest, id: string): Promise<PlainAnswer>;
  quotes(request: PlainRequest, customerId: string, limit: number): Promise<PlainAnswer>;
  products(request: PlainRequest, body: unknown): Promise<PlainAnswer>;
  graphql(request: PlainRequest, body: unknown): Promise<PlainAnswer>;
}

interface Found {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface GraphqlBody {
  readonly operationName: 'Whole' | 'Three' | 'List';
  readonly variables: { readonly id: string; readonly limit: number };
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const COMMON_HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

export async function createRoutes(uri: string, controlDatabase: string): Promise<Routes> {
  const client = await new mongo.MongoClient(uri, { maxPoolSize: 100 }).connect();
  closeAtEnd(() => client.close());
  const admit = createAdmission(client, controlDatabase);
  const databaseOf = databasesOf(client);

  async function answer(
    { authorization, ifNoneMatch }: PlainRequest,
    scope: string,
    work: (organisationId: string) => Promise<Found | undefined>,
  ): Promise<PlainAnswer> {
    const { status, headers, organisationId } = await admit(authorization, scope);
    if (status !== 200) return problem(status, headers);
    const result = await work(organisationId);
    if (!result) return problem(404, headers);
    const all = { ...headers, ...COMMON_HEADERS, ...result.headers };
    if (result.headers?.ETag !== undefined && matchesTag(ifNoneMatch, result.headers.ETag)) {
      return { status: 304, headers: all, body: '' };
    }
    return { status: 200, headers: all, body: result.body };
  }

  return {
    quote: (request, id) =>
      answer(request, 'quotes:read', async (organisationId) => {
        if (!UUID.test(id)) return undefined;
        const quote = await readQuote(databaseOf(organisationId), id, 'rest');
        if (!quote) return undefined;
        const body = JSON.stringify(quote);
        return { body, headers: { ETag: objectTag(body), 'Cache-Control': 'private, no-cache' } };
      }),
    quotes: (request, customerId, limit) =>
      answer(request, 'quotes:read', async (organisationId) => {
        const page = await listQuotes(databaseOf(organisationId), { organisationId, customerId, limit });
        const path = `/api/v1/quotes?customer_id=${customerId}&limit=${String(limit)}`;
        const body = JSON.stringify(page);
        if (page.next_cursor === null) return { body };
        return { body, headers: { Link: `<${path}&cursor=${page.next_cursor}>; rel="next"` } };
      }),
    products: (request, body) =>
      answer(request, 'products:write', async (organisationId) => {
        const { products } = body as { products: ProductUpsert[] };
        return { body: JSON.stringify(await upsertProducts(client, databaseOf(organisationId), products)) };
      }),
    graphql: (request, body) =>
      answer(request, 'quotes:read', async (organisationId) => {
        const { operationName, variables } = body as GraphqlBody;
        const { id, limit } = variables;
        const database = databaseOf(organisationId);
        if (operationName === 'Three') return wrap('quote', await readTotal(database, id));
        if (operationName === 'Whole') return wrap('quote', await readQuote(database, id, 'graphql'));
        const list = { organisationId, customerId: id, limit, withLines: true };
        return wrap('quotes', await listQuotes(database, list));
      }),
  };
}

function wrap(field: string, value: object | undefined): Found | undefined {
  return value && { body: `${JSON.stringify({ data: { [field]: value } })}\n` };
}

function problem(status: number, headers: PlainAnswer['headers']): PlainAnswer {
  const body = JSON.stringify({ type: 'about:blank', status });
  return { status, headers: { ...headers, 'Content-Type': 'application/problem+json' }, body };
}
