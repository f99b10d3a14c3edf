import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { eventually } from '../api/http/eventually';
import { openTunnel } from '../api/http/tunnel';
import type { Json } from '../support/client';
import { callerOf } from '../support/factories';
import { driver, served, startGateway } from '../support/gateway';
import { commandLine, commandOf, finished, followed, NOBODY } from './commandLine';
import { eventRow, eventScene, type EventScene } from '../support/fixtures/events';

const CONTROL_DATABASE = 'scopegate_test';
const cli = commandLine({ CONTROL_DATABASE });
const gateway = served();
const bare = driver();

const tail = ({ organisation: { id } }: EventScene, ...args: string[]) =>
  followed(cli, ['events', 'tail', '--org', id, ...args]);
const parsed = (lines: readonly string[]): Json[] => lines.map((line): Json => JSON.parse(line));
const objects = (lines: readonly string[]): string[] => parsed(lines).map(({ object }): string => object.id);
const cursorIn = (text: string): string => /--after (\S+)/.exec(text)?.[1] ?? '';
const many = (from: number, count: number) => Array.from({ length: count }, (_none, n) => eventRow(from + n));
const idsOf = (rows: ReturnType<typeof many>): string[] => rows.map(({ object }) => object!.id);

test('changes are printed as they happen, one JSON object per line, exactly as in the feed', async () => {
  const control = `scopegate_tail_${randomUUID().slice(0, 8)}`;
  await using own = await startGateway({ CONTROL_DATABASE: control, EVENTS: 'on' });
  const caller = await callerOf(own);
  await caller.post('/products/bulk', { products: [{ sku: 'OLD', name: 'Before' }] });
  await eventually(async () => (await caller.get('/events')).body.data.length === 1);
  const { body: me } = await caller.get('/me');
  const command = followed(cli, ['events', 'tail', '--org', me.organisation.id], { CONTROL_DATABASE: control });
  await command.says(/following the events/);
  const { body: before } = await caller.get('/events', { after: 'now' });
  await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'Made' }] });
  await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'Changed' }] });
  const lines = parsed(await command.until(2));
  const { body } = await caller.get('/events', { after: before.next_cursor });
  expect(lines).toEqual(body.data);
  expect(lines.map(({ type, changes }) => [type, changes])).toEqual([
    ['product.created', []],
    ['product.updated', ['name', 'updated_at']],
  ]);
  expect(await command.end('SIGINT')).toBe(0);
});

test('the cursor printed on exit resumes without skipping or repeating an event', async () => {
  const scene = await eventScene(gateway, bare);
  await scene.rows.insertMany(many(0, 250));
  const first = tail(scene, '--after', 'beginning', '--json');
  const lines = await first.until(250);
  expect(await first.end('SIGINT')).toBe(0);
  expect(objects(lines)).toEqual(idsOf(await scene.rows.find().sort({ _id: 1 }).toArray()));
  const { body } = await scene.caller.get('/events', { limit: 100 });
  expect(parsed(lines.slice(0, 100))).toEqual(body.data);
  await scene.rows.insertMany(many(250, 2));
  const second = tail(scene, '--after', cursorIn(first.stderr()));
  expect(objects(await second.until(2))).toEqual(idsOf(await scene.rows.find().sort({ _id: 1 }).skip(250).toArray()));
  expect(await second.end('SIGTERM')).toBe(0);
});

test('--types filters events; --since starts at a time, and an API cursor resumes where it ends', async () => {
  const scene = await eventScene(gateway, bare);
  await scene.rows.insertMany([eventRow(0), eventRow(1, 'order.created'), eventRow(2), eventRow(3, 'quote.deleted')]);
  const { body } = await scene.caller.get('/events', { limit: 2 });
  const typesOf = async (count: number, ...args: string[]): Promise<string[]> => {
    const command = tail(scene, ...args);
    const lines = await command.until(count);
    await command.end('SIGINT');
    return parsed(lines).map(({ type }) => type as string);
  };
  const [picked, since, after] = await Promise.all([
    typesOf(2, '--types', 'order.created,quote.deleted', '--after', 'beginning'),
    typesOf(3, '--since', eventRow(1).at.toISOString()),
    typesOf(2, '--after', body.next_cursor),
  ]);
  expect(picked).toEqual(['order.created', 'quote.deleted']);
  expect(since).toEqual(['order.created', 'product.updated', 'quote.deleted']);
  expect(after).toEqual(['product.updated', 'quote.deleted']);
});

test('no event is lost or repeated when the database disconnects and recovers', async () => {
  const scene = await eventScene(gateway, bare);
  await using tunnel = await openTunnel();
  await scene.rows.insertMany(many(0, 3));
  const command = followed(cli, ['events', 'tail', '--org', scene.organisation.id, '--after', 'beginning'], {
    MONGODB_URI: tunnel.uri,
  });
  await command.until(3);
  await tunnel.cut();
  await scene.rows.insertMany(many(3, 150));
  await command.says(/waiting for the database: /);
  await tunnel.restore();
  await command.says(/going on/);
  await scene.rows.insertMany(many(153, 1));
  const lines = await command.until(154);
  expect(await command.end('SIGINT')).toBe(0);
  expect(objects(lines)).toEqual(idsOf(await scene.rows.find().sort({ _id: 1 }).toArray()));
  expect(command.stderr()).not.toMatch(/^\s+at /m);
});

test('when the reader closes the pipe, the command ends without an error', async () => {
  const scene = await eventScene(gateway, bare);
  await scene.rows.insertMany(many(0, 2000));
  const [node, ...words] = commandOf(['events', 'tail', '--org', scene.organisation.id, '--after', 'beginning']);
  const line = `set -o pipefail; ${[node, ...words].map((word) => `'${word ?? ''}'`).join(' ')} | head -1`;
  const { PATH = '', HOME = '' } = process.env;
  const shell = spawn('bash', ['-c', line], { env: { PATH, HOME, ...cli.environment }, detached: true });
  // a process that does not end would keep the tests from ending
  const impatience = setTimeout(() => process.kill(-shell.pid!, 'SIGKILL'), 100_000);
  const { code, stdout, stderr } = await finished(shell);
  clearTimeout(impatience);
  expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 0, lines: 2 });
  expect(stderr).not.toMatch(/EPIPE|^\s+at /m);
});

test('while its output is not read, it stops reading events', async () => {
  const scene = await eventScene(gateway, bare);
  const count = 4000;
  await scene.rows.insertMany(many(0, count));
  let reads = 0;
  await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      if (command?.find === 'events') reads += 1;
      return reply;
    },
  });
  const command = followed(cli, ['events', 'tail', '--org', scene.organisation.id, '--after', 'beginning'], {
    MONGODB_URI: proxy.uri,
  });
  command.child.stdout!.pause();
  await eventually(() => reads > 0, 100_000);
  // until nothing has been read for a while
  for (let before = -1; before !== reads;) {
    before = reads;
    await new Promise((resolve) => setTimeout(resolve, 1500));
  }
  // what fits into pipes and buffers
  expect(reads).toBeLessThan(count / 100 / 2);
  command.child.stdout!.resume();
  expect(new Set(objects(await command.until(count, 120_000))).size).toBe(count);
  expect(await command.end('SIGINT')).toBe(0);
});

test('if no gateway records events, the command says so once', async () => {
  const lonely = commandLine();
  const { id } = await lonely.json<{ id: string }>('org', 'create', '--name', 'Lonely');
  const command = followed(lonely, ['events', 'tail', '--org', id]);
  await command.says(/no gateway has recorded events yet; start one with scopegate serve/);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect(await command.end('SIGINT')).toBe(0);
  expect(command.stderr().match(/no gateway/g)).toHaveLength(1);
  expect(command.lines()).toEqual([]);
});

test.each([
  [[], 1, `organisation ${NOBODY} not found`],
  [['--types', 'order.created,order.eaten'], 2, 'unknown type order.eaten; types are customer.created'],
])('events tail with %j exits with %i: %s', async (args, code, text) => {
  expect(await cli.failed(code, 'events', 'tail', '--org', NOBODY, ...args)).toContain(text);
});

test('a time in the future is refused, since nothing happened since', async () => {
  const { organisation } = await eventScene(gateway, bare);
  expect(await cli.failed(2, 'events', 'tail', '--org', organisation.id, '--since', '2999-01-01')).toContain(
    '--since 2999-01-01T00:00:00.000Z is in the future',
  );
});

test('a cursor that is malformed or belongs to another organisation is rejected', async () => {
  const [scene, other] = [await eventScene(gateway, bare), await eventScene(gateway, bare)];
  const { body } = await other.caller.get('/events');
  for (const cursor of ['nonsense', body.next_cursor as string]) {
    const said = await cli.failed(1, 'events', 'tail', '--org', scene.organisation.id, '--after', cursor);
    expect(said).toContain('is not a cursor of this list');
  }
});
