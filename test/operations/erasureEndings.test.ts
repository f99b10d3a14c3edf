import { randomUUID } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { EXIT } from '../../src/cli/ending';
import type { Store } from '../../src/cli/store';
import { sendStderrTo } from '../../src/cli/terminal';
import { eraseOrganisation } from '../../src/jobs/eraseOrganisation';
import { resourceOf } from '../../src/resources';
import { newFolder } from '../cli/commandLine';
import { erasedBy, isListed, linesOf, openOwn } from './erasures';
import { client } from '../support/client';
import { makeKey, makeNorthwind, makeOrganisation, northwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

const products = resourceOf('products');

/* Erasures that are interrupted, refused or overtaken, and what becomes of their export. */

const CONTROL_DATABASE = 'scopegate_unfinished';
let gateway: TestGateway;
/** What the command has open. */
let own: Store;

beforeAll(async () => {
  gateway = await startGateway({ CONTROL_DATABASE });
  own = await openOwn(CONTROL_DATABASE);
  sendStderrTo(() => undefined);
});
afterAll(async () => {
  sendStderrTo(undefined);
  await own.close();
  await gateway.stop();
});

const erased = (organisation: Organisation, folder?: string, signal?: AbortSignal) =>
  erasedBy(own, organisation, folder, signal);

function interruptedOnceBegun(organisation: Organisation, folder: string | undefined) {
  const interruption = new AbortController();
  const { begin } = own.control.erasing;
  jest.spyOn(own.control.erasing, 'begin').mockImplementationOnce(async (id) => {
    const erasure = await begin(id);
    interruption.abort();
    return erasure;
  });
  return erased(organisation, folder, interruption.signal);
}

/** What an erasure says that was interrupted once keys were revoked. */
const INTERRUPTED = {
  message: 'interrupted; its keys are revoked already: run the same command again to continue',
  exitCode: EXIT.interrupted,
};

test('a wrong name and an early interruption change nothing; one interrupted later says that keys are revoked, and keeps the data until it is run again', async () => {
  const organisation = await makeNorthwind(gateway, 3);
  const state = async () => (await own.control.organisations.find(organisation.id))?.state;
  await expect(erased({ ...organisation, name: 'Northwind' })).rejects.toThrow(
    '--confirm must be the name of the organisation, which is "Northwind Traders"',
  );
  const folder = await newFolder();
  await expect(erased(organisation, folder, AbortSignal.abort())).rejects.toThrow('interrupted; nothing was changed');
  expect([await state(), await readdir(folder)]).toEqual(['active', []]);
  for (const to of [folder, undefined]) {
    await expect(interruptedOnceBegun(organisation, to)).rejects.toMatchObject(INTERRUPTED);
    expect([await state(), await isListed(gateway, organisation)]).toEqual(['erasing', true]);
  }
  expect(await erased(organisation, folder)).toBe(folder);
  expect([await state(), await isListed(gateway, organisation)]).toEqual([undefined, false]);
  const ids = (await linesOf(folder, 'quotes')).map((line) => (JSON.parse(line) as { id: string }).id);
  expect(ids.sort()).toEqual(
    northwind('quotes')
      .slice(0, 3)
      .map(({ id }) => id)
      .sort(),
  );
});

test('an erasure whose data need not be exported any more can be interrupted, and names no export', async () => {
  const organisation = await makeOrganisation(gateway);
  await own.control.erasing.begin(organisation.id);
  await own.control.erasing.noteExported(organisation.id);
  const folder = await newFolder();
  await expect(interruptedOnceBegun(organisation, folder)).rejects.toMatchObject(INTERRUPTED);
  expect(await own.control.organisations.find(organisation.id)).toMatchObject({ state: 'erasing' });
  expect(await erased(organisation, folder)).toBeUndefined();
  expect(await readdir(folder)).toEqual([]);
});

test('an export that a stored row prevents says that keys are revoked, and after the correction the same command goes on', async () => {
  const organisation = await makeNorthwind(gateway, 3);
  const rows = gateway.databases.organisationData(organisation).collection(products);
  const [row] = await rows.find({}).toArray();
  await rows.updateOne(
    { _id: row!._id },
    { $set: { unit_price_minor: Number.NaN } },
    {
      bypassDocumentValidation: true,
    },
  );
  const folder = await newFolder();
  await expect(erased(organisation, folder)).rejects.toThrow(
    /^nothing was written: import would refuse these products[^]*\nThe keys of the organisation are revoked already/,
  );
  await rows.replaceOne({ _id: row!._id }, row!);
  expect(await erased(organisation, folder)).toBe(folder);
});

test('an export that another process overtakes with the erasure replaces nothing, such as the whole export of that process', async () => {
  const organisation = await makeNorthwind(gateway, 3);
  const folder = await newFolder();
  const begin = own.control.erasing.begin;
  // what an attempt does that was killed
  await begin(organisation.id);
  jest.spyOn(own.control.erasing, 'begin').mockImplementationOnce(async (id) => {
    const erasure = await begin(id);
    expect(await erased(organisation, folder)).toBe(folder);
    return erasure;
  });
  await expect(erased(organisation, folder)).rejects.toThrow('nothing was written: another process went on to erase');
  expect([(await linesOf(folder, 'quotes')).length, await isListed(gateway, organisation)]).toEqual([3, false]);
  expect(await readdir(folder)).not.toContainEqual(expect.stringMatching(/^\./));
});

test('an erasure that another process ends first keeps the audit event of that, and one of a reused id has but its own', async () => {
  const { id } = await makeOrganisation(gateway);
  const { erasing, organisations } = own.control;
  const events = () =>
    own.databases.control
      .collection('audit_events')
      .find({ organisation_id: id }, { projection: { action: 1 } })
      .toArray();
  const { organisation } = (await erasing.begin(id))!;
  await eraseOrganisation(gateway, id);
  const first = await events();
  await erasing.finish(organisation);
  expect([first, await events()]).toEqual([[expect.objectContaining({ action: 'organisation.erased' })], first]);
  await organisations.create({ id, name: 'Again', plan: 'integrations' });
  await eraseOrganisation(gateway, id);
  const [second, ...more] = await events();
  expect([second?.action, second?._id === first[0]?._id, more]).toEqual(['organisation.erased', false, []]);
});

test('an erasure that meets a move which began after it had looked says so, and one that was ended elsewhere succeeds', async () => {
  const organisation = await makeOrganisation(gateway);
  const { id } = organisation;
  const { moving, erasing } = own.control;
  const move = { id, mover: randomUUID() };
  const begin = erasing.begin;
  const begun = jest.spyOn(erasing, 'begin').mockImplementationOnce(async () => {
    await moving.begin(move, 'shard02');
    return begin(id);
  });
  await expect(erased(organisation)).rejects.toThrow(`organisation ${id} is being moved to shard shard02`);
  await moving.undo(move, { to: 'shard02' });
  begun.mockImplementationOnce(async () => {
    await eraseOrganisation(gateway, id);
    return begin(id);
  });
  expect(await erased(organisation)).toBeUndefined();
  begun.mockRestore();
});

test('an organisation whose export cannot be written stays as it is, and so do its keys', async () => {
  const organisation = await makeNorthwind(gateway, 3);
  const { key } = await makeKey(gateway, organisation);
  const folder = await newFolder();
  await writeFile(join(folder, 'file'), '');
  await expect(erased(organisation, join(folder, 'file', 'export'))).rejects.toThrow(/cannot write to .* \(ENOTDIR/);
  await writeFile(join(folder, 'orders.ndjson'), 'mine');
  await expect(erased(organisation, folder)).rejects.toThrow('already has orders.ndjson');
  expect((await readdir(folder)).sort()).toEqual(['file', 'orders.ndjson']);
  const found = await own.control.organisations.find(organisation.id);
  expect(found).toMatchObject({ state: 'active' });
  expect((await client(gateway, key).get('/me')).status).toBe(200);
  // nor is one overwritten that an attempt for another organisation has left
  await own.control.erasing.begin(organisation.id);
  await writeFile(join(folder, 'organisation.json'), describedBy(randomUUID()));
  await expect(erased(organisation, folder)).rejects.toThrow('already has orders.ndjson, organisation.json');
  await writeFile(join(folder, 'organisation.json'), describedBy(organisation.id, found?.created_at));
  expect(await erased(organisation, folder)).toBe(folder);
  expect(await linesOf(folder, 'orders')).not.toEqual(['mine']);
});

const describedBy = (id: string, created_at?: Date): string =>
  JSON.stringify({ id, name: 'Any', plan: 'integrations', currency: 'EUR', created_at });
