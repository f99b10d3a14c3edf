import { createHash, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { storeWithFiles } from '../../src/cli/import/attachments';
import { recordKinds } from '../../src/resources';
import { eraseCustomer } from '../../src/resources/eraseCustomer';
import { emptySandbox } from '../../src/resources/sandbox';
import { fileChunks, files } from '../../src/tenant/files';
import { idempotencyRecords } from '../../src/tenant/idempotency';
import { operator, TOKENS } from '../admin/operator/operator';
import { newFolder } from '../cli/commandLine';
import { AS_PDF, attaching, named, PDF } from '../support/attachments';
import { client, type Json } from '../support/client';
import { callerOf, makeKey, makeOrganisation, northwind } from '../support/factories';
import { late, served, startGateway } from '../support/gateway';

/* The files of attachments go with what they belong to (docs/decisions/attachments.md). */

const gateway = served(TOKENS);
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const data = () => gateway.databases.organisationData(organisation);
const { newObject, attach, stored } = attaching(caller, data);
const shown = async (path: string): Promise<Json> => (await caller.get(path)).body.attachments;

test('erasing a customer deletes the files of its requests, also those whose row has them no longer, and their names everywhere', async () => {
  const { body: report } = await caller.post('/customers/bulk', {
    customers: [{ external_ref: randomUUID(), name: 'Ann' }],
  });
  const customerId = report.results[0].id as string;
  const open = async (customer?: string) =>
    `/requests/${String((await caller.post('/requests', { text: 'Hello', ...(customer !== undefined && { customer_id: customer }) })).body.id)}`;
  const [path, other] = [await open(customerId), await open()];
  const headers = { ...AS_PDF, ...named('passport of Ann.pdf'), 'idempotency-key': randomUUID() };
  const { body } = await attach(path, PDF, headers);
  await attach(other);
  // as a gateway of the version before leaves a file
  const left = {
    ...(await data()
      .collection(files)
      .findOne({ _id: body.id as string }))!,
    _id: randomUUID(),
  };
  await data().collection(files).insertOne(left);
  await eraseCustomer(data(), customerId, { by: 'operator', signal: new AbortController().signal });
  expect([await shown(path), await stored(path), await stored(other)]).toEqual([[], [0, 0], [1, 3]]);
  const everything = await Promise.all(
    (await data().database.collections()).map(async (collection) => JSON.stringify(await collection.find().toArray())),
  );
  expect(everything.filter((text) => text.includes('passport'))).toEqual([]);
  expect(
    await data()
      .collection(idempotencyRecords)
      .findOne({ 'answer.attached_to': path.split('/')[2] } as never),
  ).toMatchObject({
    answer: { attachment: { file_name: 'erased' } },
  });
});

test("the operator's put and patch keep attachments, its delete deletes their files, and so does emptying a sandbox", async () => {
  const path = await newObject('products');
  await attach(path);
  const write = async (...writes: object[]): Promise<Json> =>
    (await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes })).body;
  const { body: before } = await caller.get(path);
  const id = before.id as string;
  const put = { id, sku: before.sku as string, name: 'Screw', attachments: [] };
  expect(await write({ type: 'product', put }, { type: 'product', patch: { id, name: 'Nail' } })).toMatchObject({
    updated: 2,
  });
  expect((await caller.get(path)).body).toMatchObject({ name: 'Nail', attachments: before.attachments });
  expect(await stored(path)).toEqual([1, 3]);
  expect(await write({ type: 'product', delete: { id } })).toMatchObject({ deleted: 1 });
  expect(await stored(path)).toEqual([0, 0]);
  const own = await makeOrganisation(gateway);
  const by = await callerOf(gateway, own);
  await attach(await newObject('requests', by), PDF, AS_PDF, by);
  const sandbox = gateway.databases.organisationData(own);
  await emptySandbox(sandbox, { by: 'operator' });
  const left = [sandbox.collection(files), sandbox.collection(fileChunks)].map((rows) => rows.countDocuments());
  expect(await Promise.all(left)).toEqual([0, 0]);
});

test('an import stores no file of an object that was erased after its record was stored', async () => {
  const folder = await newFolder();
  const kind = recordKinds.find(({ file }) => file === 'products')!;
  const attachment = {
    id: randomUUID(),
    file_name: 'a.txt',
    content_type: 'text/plain',
    size: 1,
    sha256: createHash('sha256').update('x').digest('hex'),
    created_at: '2026-01-01T00:00:00.000Z',
  };
  await mkdir(join(folder, 'attachments'));
  await writeFile(join(folder, 'attachments', attachment.id), 'x');
  const record = { ...northwind('products')[0]!, attachments: [attachment] };
  const own = gateway.databases.organisationData(await makeOrganisation(gateway));
  const erasing: typeof kind = {
    ...kind,
    async store(...given) {
      const stored = await kind.store(...given);
      const erased = { $set: { erased_at: new Date() } };
      await own.database
        .collection('products')
        .updateOne({}, erased, { session: given[2], bypassDocumentValidation: true });
      return stored;
    },
  };
  const outcomes = await storeWithFiles(erasing, own, [record], { folder, stamp: undefined, by: 'operator' });
  expect(outcomes).toMatchObject([{ outcome: 'failed', errors: [{ code: 'erased' }] }]);
  expect(await own.collection(files).countDocuments()).toBe(0);
});

test('a download whose attachment is deleted after its object was read is 404, and not logged', async () => {
  const path = await newObject('products');
  const { body } = await attach(path);
  const at = `${path}/attachments/${String(body.id)}`;
  await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: async (reply, command) => {
      if (command?.find === 'products') await caller.send('DELETE', at);
      return reply;
    },
  });
  await using other = await startGateway({ MONGODB_URI: proxy.uri });
  const { key } = await makeKey(gateway, organisation);
  expect(await client(other, key).get(at)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(await stored(path)).toEqual([0, 0]);
  expect(other.logs.filter(({ msg }) => msg === 'request failed')).toEqual([]);
});
