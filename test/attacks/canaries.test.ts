import { randomBytes } from 'node:crypto';
import { DEFAULT_KEY_PREFIX, generateKey } from '../../src/access/keys';
import type { Organisation } from '../../src/access/principal';
import { eventually } from '../http/eventually';
import { raw, type RawAnswer } from '../http/raw';
import { type Place, placesFor } from '../support/attackPlaces';
import { dumpDatabase, dumpOf } from '../support/attackScene';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Secrets put wherever a caller can put a text: none is written down anywhere, nor shown to anyone. */

const PEPPER = `pepper${randomBytes(16).toString('hex')}`;
const PLACES = placesFor('x').map(({ title }) => title);

let gateway: TestGateway;
let organisation: Organisation;
/** The key that requests come with, where the place is not its own header. */
let caller: string;
/** Secrets by what they are; in answers, logs and databases their last parts are looked for too. */
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
  const mistyped = `${valid.slice(0, -7)}${valid.at(-7) === 'a' ? 'b' : 'a'}${valid.slice(-6)}`;
  secrets = { valid, revoked: revoked.key, mistyped, unknown: generateKey(DEFAULT_KEY_PREFIX, PEPPER).key };
});
afterAll(async () => {
  await gateway.databases.control.dropDatabase();
  await gateway.stop();
});

async function send({ path, request }: Place): Promise<RawAnswer> {
  const headers = { authorization: `Bearer ${caller}`, ...lowerCase(request.headers ?? {}) };
  return raw(gateway.url, path, { ...request, headers });
}

/** The lines logged for a request, its last one among them. */
async function logsOf({ headers }: RawAnswer): Promise<string> {
  await eventually(() =>
    gateway.logs.some((line) => line.request_id === headers['x-request-id'] && line.method !== undefined),
  );
  return decoded(JSON.stringify(gateway.logs));
}

describe.each(['valid', 'revoked', 'mistyped', 'unknown'] as const)('a key that is %s', (kind) => {
  test.each(PLACES)('is in no log, metric or answer when it is sent in %s', async (title) => {
    const secret = secrets[kind];
    const place = placesFor(secret).find((one) => one.title === title)!;
    gateway.logs.length = 0;
    const answer = await send(place);
    expect(answer.status).toBeLessThan(500);
    expect(tracesOf(secret, await logsOf(answer))).toEqual([]);
    const shown = decoded(JSON.stringify(answer.headers) + answer.text);
    if (!place.isData && !place.isName) expect(tracesOf(secret, shown)).toEqual([]);
    const metrics = await raw(gateway.url, '/metrics', {});
    expect(metrics.status).toBe(200);
    expect(tracesOf(secret, metrics.text)).toEqual([]);
  });

  test('is in no database, once it was sent everywhere, but as the business data it was given as', async () => {
    const secret = secrets[kind];
    for (const place of placesFor(secret).filter(({ isData }) => !isData)) await send(place);
    expect(tracesOf(secret, await dumpDatabase(gateway.databases.control))).toEqual([]);
    const rows = await dumpWithoutData();
    expect(rows).toContain('Canary');
    expect(tracesOf(secret, rows)).toEqual([]);
  });
});

describe('the pepper', () => {
  /** Words that a caller chooses for its own request, and that are not told from others: who knows the pepper may write it there. */
  const CHOSEN = /path|X-Request-Id/;

  test.each(PLACES.filter((title) => !CHOSEN.test(title)))(
    'is in no log, metric or answer when it is sent in %s',
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

  test('is in no database and in no answer about keys, though every key was made with it', async () => {
    expect((await raw(gateway.url, '/api/v1/me', { headers: { authorization: `Bearer ${caller}` } })).status).toBe(200);
    expect(await dumpDatabase(gateway.databases.control)).not.toContain(PEPPER);
  });
});

test('a key is kept as no more than its id, first characters, last four, and a salted hash', async () => {
  const dump = await dumpDatabase(gateway.databases.control);
  for (const secret of Object.values(secrets)) expect(tracesOf(secret, dump)).toEqual([]);
  expect(dump).toContain(secrets.valid.slice(0, DEFAULT_KEY_PREFIX.length + 6));
});

/** What the organisation's database holds but for the texts that were sent as data. */
async function dumpWithoutData(): Promise<string> {
  const dump = await dumpOf(gateway, organisation);
  const isData = (line: string): boolean => /"(sku|body|subject)":"svc_live_/.test(line);
  return dump
    .split('\n')
    .filter((line) => !isData(line))
    .join('\n');
}

/** Parts of a key that are found in a text: from eight characters of its secret on. */
function tracesOf(key: string, text: string): string[] {
  const secret = key.slice(key.lastIndexOf('_') + 1);
  const parts = [secret.slice(0, 12), secret.slice(12, 24), secret.slice(24, 36), secret.slice(-12)];
  return parts.filter((part) => text.toLowerCase().includes(part.toLowerCase()));
}

/** A text with what is percent-encoded in it, as often as it is. */
function decoded(text: string): string {
  const once = text.replaceAll(/%([0-7][0-9a-f])/gi, (_match, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return once === text ? text : decoded(once);
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
