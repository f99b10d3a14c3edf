import { randomUUID } from 'node:crypto';
import { client, type Json } from '../../support/client';
import { makeKey } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';
import { feedReader } from '../../operations/feed';
import { TOKENS } from './operator';
import { patch, put, QUOTE, remove, writing } from './writing';

/* What operators write is in the feed as what anyone writes. */

let gateway: TestGateway;
beforeAll(async () => {
  const CONTROL_DATABASE = `scopegate_writes_${randomUUID().slice(0, 8)}`;
  gateway = await startGateway({ ...TOKENS, CONTROL_DATABASE, EVENTS: 'on' });
});
afterAll(() => gateway.stop());

test('each change is one event, in order; what changes nothing and versions are none', async () => {
  const { organisation, outcomes, row } = await writing(gateway);
  const { key } = await makeKey(gateway, organisation);
  const quote = { ...QUOTE, external_ref: 'q' };
  const message = { external_ref: 'm', request_ref: 't', author: 'customer', body: 'x' };
  await outcomes(put('quote', quote, 1), put('request', { external_ref: 't', subject: 'S' }));
  const id = (await row('quotes', 'q'))._id;
  const thread = (await row('requests', 't'))._id;
  await outcomes(put('quote', quote, 2), put('message', message));
  await outcomes(patch('quote', { external_ref: 'q', status: 'withdrawn' }, 3));
  await outcomes(patch('quote', { external_ref: 'q', discount_minor: 100, total_minor: 0 }, 2));
  await outcomes(
    put('request', { external_ref: 'both', subject: 'S' }),
    put('message', { external_ref: 'first', request_ref: 'both', author: 'customer', body: 'x' }),
  );
  const sent = { external_ref: 'twice', request_ref: 'both', author: 'customer', body: 'x' };
  await outcomes(
    remove('request', { external_ref: 'both' }),
    put('request', { external_ref: 'both', subject: 'S' }),
    put('message', sent),
    put('message', { ...sent, body: 'y' }),
  );
  const renewed = await row('requests', 'both');
  expect(renewed).toMatchObject({ message_count: 1, search: ['S', 'Y'] });
  await outcomes(remove('quote', { external_ref: 'q' }, 4));
  await outcomes(put('product', { sku: 'last', name: 'N' }));
  const all = await feedReader(client(gateway, key))(({ type }) => type === 'product.created');
  const short = ({ type, object, changes, status }: Json): unknown[] => [type, object.id === id, changes, status];
  const ofQuote = all.filter(({ object }) => object.id === id);
  expect(ofQuote.map(short)).toEqual([
    ['quote.created', true, [], 'draft'],
    ['quote.status_changed', true, ['status', 'updated_at'], 'withdrawn'],
    ['quote.deleted', true, [], null],
  ]);
  const opened = all.filter(({ object }) => object.type === 'request' && object.id !== thread);
  const typesOf = (isNew: boolean) =>
    opened.filter(({ object }) => (object.id === renewed._id) === isNew).map(({ type }) => type);
  expect(typesOf(false)).toEqual(['request.created', 'request.message_added', 'request.deleted']);
  expect(typesOf(true).slice(0, 2)).toEqual(['request.created', 'request.message_added']);
  const others = all.filter(({ object }) => object.id === thread || object.type === 'product').map(({ type }) => type);
  expect(others.sort()).toEqual(['product.created', 'request.created', 'request.message_added', 'request.updated']);
});
