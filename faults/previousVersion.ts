import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../tools/facts';
import { awaitAll, productsInFeed, signIn, startReceiver, startTraffic, type Traffic } from './callers';
import { cleanUp, cleanUpOnSignals, onEnd } from './cleanup';
import { startDatabase } from './database';
import { type Gateway, startGateway } from './gateway';
import { runToEnd } from './processes';

/*
 * The version before this one, whose dist/main.js is the argument, and this one on one database that the former made: with requests to both, the
 * former is stopped, killed and started again, serves alone, and starts no more once `doctor --fix` of this one has raised the control schema.
 * Run by .ci/previous/run (docs/decisions/control-schema.md).
 */

/** Of the gateways, and of their logs. */
const NAMES = ['former', 'new'] as const;
const OWN = join(ROOT, 'dist', 'main.js');
/** How long to wait for events and deliveries, in milliseconds. */
const PATIENCE = 60_000;

interface Diagnosis {
  readonly checks: readonly { readonly name: string; readonly detail: string; readonly fix?: string }[];
}

const say = (line: string): void => {
  process.stderr.write(`${process.uptime().toFixed(1).padStart(6)} s  ${line}\n`);
};

/** `place` gets the logs and the data. */
async function check(former: string, place: string): Promise<void> {
  await mkdir(join(place, 'data'));
  const database = await startDatabase(join(place, 'data'), join(ROOT, '.cache'));
  const receiver = await startReceiver();
  onEnd('the receiver', () => receiver.stop());
  const env = {
    ...process.env,
    MONGODB_URI: database.uri,
    DATA_DIR: join(place, 'data'),
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    KEY_PEPPER: 'a pepper for two versions',
    WEBHOOK_SECRET: 'a master secret of webhooks, for two versions',
    WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8',
    RATE_LIMIT_PER_MINUTE: '1000000000',
  };
  const run = async <T>(program: string, ...args: string[]): Promise<T> =>
    JSON.parse(await runToEnd(process.execPath, [program, ...args, '--json'], env)) as T;
  const start = (name: string, program: string): Promise<Gateway> =>
    startGateway({ name, program, env, logFile: join(place, `${name}.log`) });

  say(`the former version makes the database: ${database.description}`);
  const { id } = await run<{ id: string }>(former, 'org', 'create', '--name', 'Acme');
  const keyOf = (program: string, name: string) =>
    run<{ key: string }>(program, 'key', 'create', '--org', id, '--name', name, '--scopes', 'all');
  const { key } = await keyOf(former, 'former');
  const hook = await run<{ id: string }>(former, 'webhook', 'create', '--org', id, '--url', receiver.url);
  const old = await start('former', former);
  const traffics: Traffic[] = [];
  const trafficOn = (gateway: Gateway, own = key): Traffic => {
    const traffic = startTraffic(gateway, own);
    traffics.push(traffic);
    return traffic;
  };
  /** Ends a gateway while nothing is sent to it, and starts it again. */
  async function again(gateway: Gateway, traffic: Traffic, signal: 'SIGTERM' | 'SIGKILL'): Promise<Traffic> {
    await traffic.stop();
    const code = await gateway.end(signal);
    assert.equal(code, signal === 'SIGTERM' ? 0 : null, `the exit code of the ${gateway.name} version`);
    await gateway.restart();
    return trafficOn(gateway);
  }
  let toOld = trafficOn(old);
  const { checks } = await run<Diagnosis>(OWN, 'doctor');
  const schema = checks.find(({ name }) => name === 'control schema');
  const isRaised = schema?.fix !== undefined;
  say(`control schema: ${String(schema?.detail)}`);

  say('this version starts beside it, and both change what the other reads');
  const own = await start('new', OWN);
  let toOwn = trafficOn(own, (await keyOf(OWN, 'new')).key);
  await run(OWN, 'org', 'rename', id, 'Acme Ltd');
  await run(OWN, 'webhook', 'rotate', hook.id);
  const { url } = await run<{ url: string }>(OWN, 'org', 'link', '--org', id, '--role', 'admin', '--name', 'Ann');
  const ann = await signIn(old, url);
  toOld = await again(old, toOld, 'SIGKILL');
  await ann.readsAll(old);
  await ann.readsAll(own);

  say('a key for some customers works here alone, and rotated by the former version nowhere');
  const customers = [{ external_ref: 'C-1', name: 'Customer' }];
  const { results } = (await asked(own, key, '/customers/bulk', { customers })).body;
  const ofCustomer = ['--org', id, '--name', 'agency', '--scopes', 'all', '--customer-ids', String(results?.[0]?.id)];
  const agency = await run<{ id: string; key: string }>(OWN, 'key', 'create', ...ofCustomer);
  // what belongs to no customer it gets as any other, so the products say who posts to it
  const partner = await startReceiver();
  onEnd('the receiver of an endpoint for some customers', () => partner.stop());
  const ofAgency = ['--org', id, '--url', partner.url, '--customer-ids', String(results?.[0]?.id)];
  const { id: endpoint } = await run<{ id: string }>(OWN, 'webhook', 'create', ...ofAgency);
  assert.deepEqual(
    (await run<readonly { id: string }[]>(former, 'webhook', 'list', '--org', id)).map((listed) => listed.id),
    [hook.id],
    'the endpoints that the former version finds',
  );
  await assert.rejects(run(former, 'webhook', 'enable', endpoint, '--from', '1h'), /not found/);
  const statuses = async (text: string): Promise<number[]> =>
    Promise.all([own, old].map(async (gateway) => (await asked(gateway, text, '/me')).status));
  assert.deepEqual(await statuses(agency.key), [200, 401], 'a key for some customers');
  const { key: rotated } = await run<{ key: string }>(former, 'key', 'rotate', agency.id);
  assert.deepEqual(await statuses(rotated), [401, 401], 'a key for some customers that the former version rotated');

  say('the former version serves alone, as after a rollback');
  await toOwn.stop();
  assert.equal(await own.end('SIGTERM'), 0);
  toOld = await again(old, toOld, 'SIGTERM');
  const alone = toOld.created;
  const { url: later } = await run<{ url: string }>(former, 'org', 'link', '--org', id, '--role', 'admin');
  await (await signIn(old, later)).readsAll(old);
  const posted = [...alone];
  await awaitAll('webhooks of the former version', posted, () => receiver.products, PATIENCE);
  const isPartners = (product: string): boolean => partner.products.has(product);
  assert.deepEqual(posted.filter(isPartners), [], 'posted by the former version to an endpoint for some customers');
  await own.restart();
  toOwn = trafficOn(own);

  say('doctor --fix of this version');
  const fixed = await run<Diagnosis>(OWN, 'doctor', '--fix');
  say(`control schema: ${String(fixed.checks.find(({ name }) => name === 'control schema')?.detail)}`);
  await ann.readsAll(old);
  await toOld.stop();
  await old.end('SIGTERM');
  if (isRaised) {
    const refusal = /has schema version \d+, but this version of scopegate knows only \d+/;
    await assert.rejects(old.restart());
    assert.match((await linesOf(place, 'former')).join('\n'), refusal);
  } else {
    say('both have the same control schema, so the former version still starts');
    await old.restart();
    await old.end('SIGTERM');
  }
  await ann.readsAll(own);
  await toOwn.stop();

  const made = traffics.flatMap(({ created }) => created);
  assert.deepEqual(traffics.flatMap(({ failures }) => failures).slice(0, 5), []);
  await awaitAll('events', made, () => productsInFeed(own, key), PATIENCE);
  await awaitAll('webhooks', made, () => receiver.products, PATIENCE);
  // the former version let it rest for a minute at a time
  await run(OWN, 'webhook', 'enable', endpoint);
  await awaitAll('webhooks for some customers', [...alone, ...toOwn.created], () => partner.products, PATIENCE);
  for (const name of NAMES) {
    const lines = await linesOf(place, name);
    const errors = lines.filter((line) => /"level":[56]0/.test(line) && !line.includes('has schema version'));
    assert.deepEqual(errors.slice(0, 5), [], `errors in the log of the ${name} version`);
  }
  const requests = traffics.reduce((sum, { requests: count }) => sum + count(), 0);
  say(
    `${String(requests)} requests, 0 failed; each of ${String(made.length)} products was stored, listed as an event and posted`,
  );
}

interface Asked {
  readonly status: number;
  readonly body: { readonly results?: readonly { readonly id: string }[] };
}

async function asked({ port }: Gateway, key: string, path: string, body?: object): Promise<Asked> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const sent = body && { method: 'POST', body: JSON.stringify(body) };
  const answer = await fetch(`http://127.0.0.1:${String(port)}/api/v1${path}`, { headers, ...sent });
  return { status: answer.status, body: (await answer.json()) as Asked['body'] };
}

/** What a gateway has logged. */
async function linesOf(place: string, name: string): Promise<string[]> {
  return (await readFile(join(place, `${name}.log`), 'utf8').catch(() => '')).split('\n').filter(Boolean);
}

async function main(): Promise<number> {
  cleanUpOnSignals();
  const place = await mkdtemp(join(tmpdir(), 'scopegate-previous-'));
  onEnd(place, () => rm(place, { recursive: true, force: true, maxRetries: 5 }));
  try {
    await check(process.argv[2] ?? '', place);
    return 0;
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    for (const name of NAMES)
      for (const line of (await linesOf(place, name)).slice(-3)) say(`the ${name} version logged: ${line}`);
    return 1;
  } finally {
    await cleanUp();
  }
}

void main().then((code) => process.exit(code));
