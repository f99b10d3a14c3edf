import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { createKeyUsage } from '../../src/organisations/keyUsage';
import { type ControlModels, createControlModels } from '../../src/organisations/models';
import { createRequestLog } from '../../src/organisations/requestLog';
import type { RequestRow } from '../../src/organisations/requestRows';
import { organisationUsageId } from '../../src/organisations/usageUnits';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { served, startGateway } from '../support/gateway';

/* What gateways have recorded of requests, and not written yet, when their organisation is erased. */

jest.mock('../../src/async/timeout', () => jest.requireActual<object>('../support/longTimeouts'));

const CONTROL_DATABASE = 'scopegate_erased_records';
const eraser = served({ CONTROL_DATABASE });

async function rowsOf({ id }: Organisation, keyId: string): Promise<number[]> {
  const { control } = eraser.databases;
  return Promise.all([
    control.collection('request_log').countDocuments({ organisation_id: id }),
    control.collection('key_usage').countDocuments({ key_id: { $in: [keyId, organisationUsageId(id)] } }),
  ]);
}

async function erase({ id }: Organisation): Promise<void> {
  const { erasing } = eraser.control;
  const { organisation } = (await erasing.begin(id))!;
  await erasing.finish(organisation);
}

test('is dropped if the organisation has been erased', async () => {
  const gateway = await startGateway({ CONTROL_DATABASE });
  const organisation = await makeOrganisation(gateway);
  const [{ key, id }, stays] = [await makeKey(gateway, organisation), await makeOrganisation(gateway)];
  const other = await makeKey(gateway, stays);
  for (let sent = 0; sent < 5; sent += 1) await client(gateway, key).get('/products', { limit: 0 });
  await client(gateway, other.key).get('/products', { limit: 0 });
  await erase(organisation);
  await gateway.stop();
  expect(await rowsOf(organisation, id)).toEqual([0, 0]);
  // by five minutes, hour and day, of the key and of the organisation
  expect(await rowsOf(stays, other.id)).toEqual([1, 6]);
});

test.each(['the request log', 'usage'])('is deleted again if erased while it was written: %s', async (what) => {
  const models = createControlModels(eraser.databases);
  const organisation = await makeOrganisation(eraser);
  const { id: keyId } = await makeKey(eraser, organisation);
  let looked = 0;
  const find = (...given: Parameters<typeof models.organisations.find>) => ({
    lean: async () => {
      const found = await models.organisations.find(...given).lean();
      looked += 1;
      if (looked === 1) await erase(organisation);
      return found;
    },
  });
  const organisations = { find } as unknown as ControlModels['organisations'];
  if (what === 'usage') {
    const counted = { at: new Date(), requests: 1, errors: 0, rate_limited: 0 };
    const ids = [keyId, organisationUsageId(organisation.id)];
    await createKeyUsage({ ...models, organisations }, Date.now).add(ids.map((id) => ({ keyId: id, ...counted })));
  } else {
    const row = { _id: randomUUID(), organisation_id: organisation.id, key_id: keyId, at: new Date() };
    await createRequestLog({ ...models, organisations }, Date.now).add([row as RequestRow]);
  }
  expect(looked).toBeGreaterThan(1);
  expect(await rowsOf(organisation, keyId)).toEqual([0, 0]);
});
