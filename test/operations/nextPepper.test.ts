import { randomBytes } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { keyRecord, toKeyRecord } from '../../src/organisations/keyRecords';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Keys are imported that are hashed with the next pepper, while gateways know it as KEY_PEPPER_PREVIOUS (docs/guides/operators.md, Replace the pepper). */

type Peppers = Readonly<Record<string, string>>;

const KNOWN = { KEY_PEPPER: 'ours', KEY_PEPPER_PREVIOUS: 'next' };
const SWAPPED = { KEY_PEPPER: 'next', KEY_PEPPER_PREVIOUS: 'ours' };

const newDatabase = (): string => `pepper_${randomBytes(6).toString('hex')}`;

async function start(CONTROL_DATABASE: string, peppers: Peppers): Promise<TestGateway> {
  const gateway = await startGateway({ CONTROL_DATABASE, ...peppers });
  await gateway.control.pepper.adopt();
  return gateway;
}

/** What an installation exports that has had one pepper, the next of the other. */
async function exportedKey() {
  await using gateway = await start(newDatabase(), { KEY_PEPPER: 'next' });
  const { id, key } = await makeKey(gateway, await makeOrganisation(gateway));
  const record = keyRecord.parse(JSON.parse(JSON.stringify(toKeyRecord((await gateway.control.apiKeys.find(id))!))));
  return { fingerprint: (await gateway.control.pepper.exported()).fingerprint, id, key, record };
}

async function importKey(gateway: TestGateway, { id }: Organisation, { fingerprint, record }: Exported) {
  const pepper = await gateway.control.pepper.adoptFrom(fingerprint);
  if (pepper === undefined) throw new Error('refused');
  return gateway.control.importKeys(id, [{ ...record, pepper }]);
}

type Exported = Awaited<ReturnType<typeof exportedKey>>;

const statusOf = async (gateway: TestGateway, key: string): Promise<number> =>
  (await client(gateway, key).get('/me')).status;

test.each<[string, Peppers[]]>([
  ['the first pepper', [{ KEY_PEPPER: 'ours' }]],
  ['a pepper that replaced another', [{ KEY_PEPPER: 'older' }, { KEY_PEPPER: 'ours', KEY_PEPPER_PREVIOUS: 'older' }]],
])('beside %s, they work at once and after the swap, and are not counted as lost', async (_which, history) => {
  const database = newDatabase();
  const exported = await exportedKey();
  let organisation: Organisation | undefined;
  let own = '';
  for (const peppers of history) {
    await using gateway = await start(database, peppers);
    organisation ??= await makeOrganisation(gateway);
    own = (await makeKey(gateway, organisation)).key;
  }
  // the key of the older pepper, which nobody has used since
  const lost = history.length - 1;
  {
    await using gateway = await start(database, KNOWN);
    expect(await importKey(gateway, organisation!, exported)).toEqual(['created']);
    // its pepper has a number now
    expect(await importKey(gateway, organisation!, exported)).toEqual(['unchanged']);
    expect(await gateway.control.pepper.state()).toEqual({ known: 'current', left: 1, lost });
    expect(await statusOf(gateway, own)).toBe(200);
  }
  {
    await using gateway = await start(database, SWAPPED);
    expect(await gateway.control.pepper.state()).toEqual({ known: 'current', left: 1, lost });
    for (const key of [own, exported.key]) expect(await statusOf(gateway, key)).toBe(200);
    await gateway.control.apiKeys.settle();
    expect(await gateway.control.pepper.state()).toEqual({ known: 'current', left: 0, lost });
  }
});

test('those of another installation whose pepper stays a previous one are rehashed with KEY_PEPPER', async () => {
  const database = newDatabase();
  const exported = await exportedKey();
  {
    await using gateway = await start(database, { KEY_PEPPER: 'ours' });
    const organisation = await makeOrganisation(gateway);
    await makeKey(gateway, organisation);
    await using importing = await start(database, KNOWN);
    await importKey(importing, organisation, exported);
  }
  {
    await using gateway = await start(database, KNOWN);
    expect(await statusOf(gateway, exported.key)).toBe(200);
    await gateway.control.apiKeys.settle();
  }
  await using gateway = await start(database, { KEY_PEPPER: 'ours' });
  expect(await statusOf(gateway, exported.key)).toBe(200);
});
