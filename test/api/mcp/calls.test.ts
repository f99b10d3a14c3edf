import { randomUUID } from 'node:crypto';
import type { Answer } from '../../support/client';
import { callerOf, makeOrganisation, northwind, store } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { MCP } from '../../support/operations';
import { blocksIn, valueIn } from '../../support/mcpFace';

/* Calls of tools: which arguments they take, with errors that a model can act on, and what they write. */

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));

beforeAll(() => store(gateway, organisation, { orders: northwind('orders').slice(0, 1) }));

const use = (name: string, args: object = {}): Promise<Answer> => caller.mcp('tools/call', { name, arguments: args });

describe('the arguments of a tool', () => {
  test.each<[string, string, object, string, RegExp]>([
    [
      'orders',
      'an unknown argument',
      { query: 'x' },
      'query',
      /is not an argument of this tool, which has .*customer_id.*fields/,
    ],
    [
      'upsert_products',
      'fields',
      { products: [], fields: ['name'] },
      '/fields',
      /not an argument .*products.*idempotency_key/,
    ],
    ['orders', 'a field that there is not', { fields: 'colour' }, '/fields/0', /must be one of id, number/],
    [
      'orders',
      'a name for an id',
      { customer_id: 'Alfreds' },
      'customer_id',
      /a valid UUID; the tool customers finds it$/,
    ],
    ['order', 'a number for an id', { id: '10248' }, 'id', /a valid UUID; the tool orders finds it$/],
    ['request_messages', 'a subject for an id', { id: 'Leeds' }, 'id', /a valid UUID; the tool requests finds it$/],
    [
      'open_request',
      'a name for an id',
      { text: 'x', customer_id: 'Alfreds' },
      '/customer_id',
      /a valid UUID; the tool customers finds it$/,
    ],
    [
      'events',
      'a number for an id',
      { object_id: '1' },
      'object_id',
      /a valid UUID; one of the tools customers, orders/,
    ],
    [
      'open_request',
      'a key with a space',
      { text: 'x', idempotency_key: 'order 1' },
      'idempotency_key',
      /1 to 255 visible ASCII/,
    ],
    ['open_request', 'a long key', { text: 'x', idempotency_key: 'x'.repeat(256) }, 'idempotency_key', /1 to 255/],
    ['open_request', 'a key that is a number', { text: 'x', idempotency_key: 1 }, '/idempotency_key', /must be a text/],
  ])('%s with %s gets an error that says how to fix it', async (tool, _title, args, place, detail) => {
    const { errors } = MCP.errorOf(await use(tool, args));
    expect(errors[0].pointer ?? errors[0].parameter).toBe(place);
    expect(errors[0].detail).toMatch(detail);
  });

  test('may be a single value where a list is wanted', async () => {
    const one = { sku: 'SINGLE-1', name: 'Single' };
    expect(valueIn(await use('upsert_products', { products: one })).created).toBe(1);
    const contacts = { name: 'Ann' };
    const customers = { external_ref: 'SINGLE-1', name: 'Single', contacts };
    expect(valueIn(await use('upsert_customers', { customers })).created).toBe(1);
    const { data } = valueIn(await use('products', { sku: one.sku, fields: 'sku' }));
    expect(data).toEqual([{ id: expect.any(String), sku: one.sku }]);
    expect((await use('orders', { status: 'placed' })).body.result.isError).toBe(false);
  });

  test('may be null, which counts as omitted, even for those that tools add', async () => {
    const page = valueIn(await use('orders', { fields: null, cursor: null, limit: 1 }));
    expect(page.data).toHaveLength(1);
    expect(valueIn(await use('open_request', { text: 'Null', idempotency_key: null, fields: null })).id).toBeDefined();
  });
});

describe('a write', () => {
  test('with null clears a member, as on REST, and is refused for one that cannot be null', async () => {
    const { body } = await caller.post('/customers/bulk', {
      customers: [
        { external_ref: 'NULL', name: 'Null', email: 'a@example.com', phone: '1', contacts: [{ name: 'Ann' }] },
      ],
    });
    const { id } = body.results[0];
    const changed = valueIn(
      await use('update_customer', { id, email: null, contacts: null, phone: '2', fields: null }),
    );
    expect(changed).toMatchObject({ id, name: 'Null', email: null, phone: '2', contacts: [] });
    expect((await caller.get(`/customers/${String(id)}`)).body).toMatchObject({
      email: null,
      phone: '2',
      contacts: [],
    });
    const refused = MCP.errorOf(await use('update_customer', { id, name: null, phone: null }));
    const onRest = await caller.patch(`/customers/${String(id)}`, { name: null, phone: null });
    expect(refused.errors).toEqual(onRest.body.errors);
    expect(refused.errors[0].pointer).toBe('/name');
    const opened = {
      text: 'Null',
      subject: null,
      customer_id: null,
      contact: null,
      external_ref: null,
      metadata: null,
    };
    expect(valueIn(await use('open_request', opened))).toMatchObject({ status: 'open', customer_id: null });
  });

  test('with an idempotency key happens once, and a repeat is marked as replayed', async () => {
    const args = { text: 'Only once, please', idempotency_key: randomUUID() };
    const [one, other] = [await use('open_request', args), await use('open_request', args)];
    expect(valueIn(other).id).toBe(valueIn(one).id);
    expect([one, other].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    const isSaid = (answer: Answer): boolean =>
      blocksIn(answer).some((text) => text.includes('nothing was done again'));
    expect([one, other].map(isSaid)).toEqual([false, true]);
    const changed = await use('open_request', { ...args, text: 'Another' });
    expect(MCP.errorOf(changed).code).toBe('idempotency_key_reused');
    const { body } = await caller.post('/requests', { text: args.text }, { 'idempotency-key': args.idempotency_key });
    expect(body.id).toBe(valueIn(one).id);
  });

  test('without one happens on every call, whatever header is sent', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const call = { name: 'open_request', arguments: { text: 'Twice' } };
    const ids = [await caller.mcp('tools/call', call, headers), await caller.mcp('tools/call', call, headers)].map(
      (answer) => valueIn(answer).id as string,
    );
    expect(new Set(ids).size).toBe(2);
  });
});

test('an unknown tool is a protocol error', async () => {
  for (const name of ['nothing', 'keys', 'create_key', 'constructor', 7, undefined]) {
    const { status, body } = await caller.mcp('tools/call', { name, arguments: {} });
    expect({ status, code: body.error?.code }).toEqual({ status: 200, code: -32602 });
  }
});
