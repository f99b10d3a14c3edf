import { randomUUID } from 'node:crypto';
import { startDatabase } from '../operation/database';
import { client, type Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, servedBy, startGateway } from '../support/gateway';
import { commandLine, followed } from './commandLine';

const eu = late(startDatabase);
const CONTROL_DATABASE = `scopegate_tail_move_${randomUUID().slice(0, 8)}`;
const environment = () => ({ CONTROL_DATABASE, MONGODB_CLUSTERS: `eu=${eu.uri}`, EVENTS: 'on' });
const gateway = servedBy(() => startGateway(environment()));
afterAll(() => eu.stop());

test('events tail follows an organisation to another cluster without losing or repeating an event', async () => {
  const cli = commandLine(environment());
  const organisation = await makeOrganisation(gateway, { cluster: 'default' });
  const caller = client(gateway, (await makeKey(gateway, organisation)).key);
  const make = async (sku: string): Promise<void> => {
    const { body } = await caller.post('/products/bulk', { products: [{ sku, name: sku }] });
    expect(body).toMatchObject({ created: 1 });
  };
  const command = followed(cli, ['events', 'tail', '--org', organisation.id]);
  await command.says(/following the events/);
  await make('before');
  await command.until(1);
  expect(await cli.spawned('org', 'move', organisation.id, '--to', 'eu')).toMatchObject({ code: 0 });
  await make('after');
  await make('last');
  const lines = await command.until(3);
  const { body: feed } = await caller.get('/events');
  expect(lines.map((line): Json => JSON.parse(line))).toEqual(feed.data);
  expect(await command.end('SIGINT')).toBe(0);
  expect(lines).toHaveLength(3);
}, 240_000);
