import { randomBytes } from 'node:crypto';
import { DEFAULT_KEY_PREFIX, generateKey } from '../../../src/auth/keys';
import type { Organisation } from '../../../src/auth/principal';
import { databaseOf } from '../../../src/mongo/native';
import { eventually } from '../../api/http/eventually';
import { raw, type RawAnswer } from '../../api/http/raw';
import { type Place, placesFor } from '../../support/attacks/places';
import { dumpDatabase, dumpOf } from '../../support/attacks/scene';
import { makeKey, makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';

/* Sends secrets everywhere a caller can send text; they must never be stored, logged or shown. */

const PEPPER = `pepper${randomBytes(16).toString('hex')}`;
const PLACES = placesFor('x').map(({ title }) => title);

let gateway: TestGateway;
let organisation: Organisation;
/** The key of requests whose secret is not in the Authorization header. */
let caller: string;
/** Keys by state; answers, logs and databases are also searched for parts of them. */
let secrets: Record<'valid' | 'revoked' | 'mistyped' | 'unknown', string>;

beforeAll(async () => {
  gateway = await startGateway({
    KEY_PEPPER: PEPPER,
    LOG_LEVEL: 'trace',
    TRUST_PROXY: '1',
    CONTROL_DATABASE: 'scopegate_canaries',
  });
  organisation = await makeOrganisation(gateway);
  caller = (await makeKey(gateway, organisation)).key;
  const valid = (await makeKey(gateway, organisation)).key;
  const revoked = await makeKey(gateway, organisation);
  await gateway.control.apiKeys.revoke(revoked.id);
  // another letter, not the same in lower case: search finds a key's product whatever its case
  const mistyped = `${valid.slice(0, -7)}${valid.at(-7)?.toLowerCase() === 'a' ? 'b' : 'a'}${valid.slice(-6)}`;
  secrets = { valid, revoked: revoked.key, mistyped, unknown: generateKey(DEFAULT_KEY_PREFIX, PEPPER).key };
});
afterAll(async () => {
  await gateway.databases.control.dropDatabase();
  await gateway.stop();
});

async function send({ path, request }: Place): Promise<RawAnswer> {
  const headers = { authorization: `Bearer ${caller}`, ...request.headers };
  return raw(gateway.url, path, { ...request, headers });
}

/** The lines logged so far, once the request's last line is among them. */
async function logsOf({ headers }: RawAnswer): Promise<string> {
  await eventually(() =>
    gateway.logs.some((line) => line.request_id === headers['x-request-id'] && line.method !== undefined),
  );
  return decoded(JSON.stringify(gateway.logs));
}

describe.each(['valid', 'revoked', 'mistyped', 'unknown'] as const)('a key that is %s', (kind) => {
  test.each(PLACES)('is in no log or answer when sent in %s', async (title) => {
    const secret = secrets[kind];
    const place = placesFor(secret).find((one) => one.title === title)!;
    gateway.logs.length = 0;
    const answer = await send(place);
    expect(answer.status).toBeLessThan(500);
    expect(tracesOf(secret, await logsOf(answer))).toEqual([]);
    const shown = decoded(JSON.stringify(answer.headers) + answer.text);
    if (!place.isData && !place.isName) expect(tracesOf(secret, shown)).toEqual([]);
  });

  test('is in no metric, and stored nowhere except in business data that contained it', async () => {
    const secret = secrets[kind];
    for (const place of placesFor(secret)) await send(place);
    const metrics = await raw(gateway.url, '/metrics', {});
    expect([metrics.status, tracesOf(secret, metrics.text)]).toEqual([200, []]);
    expect(tracesOf(secret, await dumpDatabase(databaseOf(gateway.databases.control)))).toEqual([]);
    const rows = await dumpWithoutData();
    expect(rows).toContain('Canary');
    expect(tracesOf(secret, rows)).toEqual([]);
  });
});

describe('the pepper', () => {
  /** Texts the caller chooses freely; only someone who knows the pepper could put it there. */
  const CHOSEN = /path|X-Request-Id/;

  test.each(PLACES.filter((title) => !CHOSEN.test(title)))(
    'is in no log, metric or answer when sent in %s',
    async (title) => {
      const place = placesFor(PEPPER).find((one) => one.title === title)!;
      gateway.logs.length = 0;
      const answer = await send(place);
      expect(answer.status).toBeLessThan(500);
      expect(await logsOf(answer)).not.toContain(PEPPER);
      if (!place.isData && !place.isName) expect(JSON.stringify(answer.headers) + answer.text).not.toContain(PEPPER);
      expect((await raw(gateway.url, '/metrics', {})).text).not.toContain(PEPPER);
    },
  );

  test('is in no database and no answer about keys, although every key was created with it', async () => {
    expect((await raw(gateway.url, '/api/v1/me', { headers: { authorization: `Bearer ${caller}` } })).status).toBe(200);
    expect(await dumpDatabase(databaseOf(gateway.databases.control))).not.toContain(PEPPER);
  });
});

test('only the id, prefix, last four characters and a salted hash of a key are stored', async () => {
  const dump = await dumpDatabase(databaseOf(gateway.databases.control));
  for (const secret of Object.values(secrets)) expect(tracesOf(secret, dump)).toEqual([]);
  expect(dump).toContain(secrets.valid.slice(0, DEFAULT_KEY_PREFIX.length + 6));
});

/** The organisation's database without the rows whose data contained the secret. */
async function dumpWithoutData(): Promise<string> {
  const dump = await dumpOf(gateway, organisation);
  const isData = (line: string): boolean => /"(sku|body|subject)":"svc_live_/.test(line);
  return dump
    .split('\n')
    .filter((line) => !isData(line))
    .join('\n');
}

/** The 12-character parts of a key's secret found in a text. */
function tracesOf(key: string, text: string): string[] {
  const secret = key.slice(key.lastIndexOf('_') + 1);
  const parts = [secret.slice(0, 12), secret.slice(12, 24), secret.slice(24, 36), secret.slice(-12)];
  return parts.filter((part) => text.toLowerCase().includes(part.toLowerCase()));
}

function decoded(text: string): string {
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return once === text ? text : decoded(once);
}
