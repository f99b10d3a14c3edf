import { contextFactory, type RequestContext } from '../../src/operations/context';
import type { Organisation } from '../../src/auth/principal';
import { ALL_SCOPES } from '../../src/auth/scopes';
import { createRunner } from '../../src/operations/runner';
import { createSofaRouter, sofaHandler } from '../../src/rest/sofa';
import { type RestOperation, restOperations } from '../../src/rest/routes';
import { METHODS } from '../../src/schema/declaredOperations';
import { startGateway, type TestGateway } from '../support/gateway';
import { argumentsOf, lasting, schemas } from '../support/operations';
import { IDS, makeStocked } from './scene';

let gateway: TestGateway;
let organisation: Organisation;
const runner = createRunner(schemas);
const routes = restOperations(schemas.operations);
const sofa = createSofaRouter(runner.routes, routes);
beforeAll(async () => {
  gateway = await startGateway();
  organisation = await makeStocked(gateway);
});
afterAll(() => gateway.stop());

/** Arguments for some lists, as strings, as in a path or query. */
const FILTERED: Record<string, Record<string, string | string[]>> = {
  quotes: { status: ['sent', 'accepted'], limit: '3' },
  orders: { updated_since: '1996-01-01T00:00:00Z', limit: '2' },
  products: { search: 'queso', limit: '5' },
  customers: { search: 'alf', limit: '1' },
};

describe.each(routes.map((operation) => ({ operation, name: operation.name })))('$name', ({ operation }) => {
  test('calling the route directly gives the same answer as routing by Sofa', async () => {
    const args = argumentsOf(operation, IDS, FILTERED[operation.name]);
    const [short, long] = [await directly(operation, args), await byRouting(operation, args)];
    expect(short.status).toBe(operation.rest.status);
    expect(long).toEqual(short);
  });
});

test("a route throws the operation's error", async () => {
  const quote = routes.find(({ name }) => name === 'quote')!;
  await expect(directly(quote, { id: organisation.id })).rejects.toMatchObject({
    originalError: { code: 'not_found' },
  });
});

interface Outcome {
  readonly status: number;
  readonly body: unknown;
}

async function directly(operation: RestOperation, args: Record<string, unknown>): Promise<Outcome> {
  const handle = sofaHandler(sofa, operation, runner.of(operation)!.field);
  const { status, body } = await handle(typed(args), await openContext());
  return { status, body: lasting(operation, JSON.parse(String(body))) };
}

async function byRouting(operation: RestOperation, args: Record<string, unknown>): Promise<Outcome> {
  const others = new Map(Object.entries(args));
  const path = operation.rest.path.replaceAll(/:(\w+)/g, (_match, name: string) => {
    const value = others.get(name) as string;
    others.delete(name);
    return value;
  });
  const url = new URL(`http://gateway/api/v1${path}`);
  const { hasBody } = METHODS[operation.rest.method];
  if (!hasBody) {
    for (const [name, value] of others) for (const item of [value].flat()) url.searchParams.append(name, String(item));
  }
  const request = new Request(url, {
    method: operation.rest.method,
    ...(hasBody
      ? { headers: { 'content-type': 'application/json' }, body: JSON.stringify(Object.fromEntries(others)) }
      : {}),
  });
  const response = await sofa.fetch(request, { context: await openContext() });
  const text = await response.text();
  return { status: response.status, body: text === '' ? '' : lasting(operation, JSON.parse(text)) };
}

/** Converts numbers, as the request checks do before the handler. */
function typed({ limit, ...others }: Record<string, unknown>): Record<string, unknown> {
  return limit === undefined ? others : { ...others, limit: Number(limit) };
}

/** A context from the real factory, for a caller with all scopes. */
function openContext(): Promise<RequestContext> {
  const open = contextFactory({
    authenticate: () =>
      Promise.resolve({
        kind: 'key',
        organisation,
        scopes: new Set(ALL_SCOPES),
        key: { id: 'key', name: 'test', prefix: 'svc_live_test', expiresAt: null, mcp: 'read' },
      }),
    limiter: { consume: () => Promise.resolve({ allowed: true, limit: 600, remaining: 599, resetAt: new Date() }) },
    organisationData: gateway.databases.organisationData,
    checkElement: () => ({ faults: [], more: 0, isCut: false }),
    eventSource: () => ({
      recordedUntil: () => Promise.resolve(undefined),
      recordingAt: () => Promise.resolve(undefined),
      wait: () => Promise.resolve(),
      follow: () => {
        throw new Error('REST has no streams');
      },
    }),
  });
  return open({
    requestId: 'test',
    authorization: undefined,
    idempotencyKey: undefined,
    address: '127.0.0.1',
    onRate: () => undefined,
    onReplay: () => undefined,
    onPrincipal: () => undefined,
  });
}
