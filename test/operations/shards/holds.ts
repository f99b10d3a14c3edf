import type { Organisation } from '../../../src/auth/principal';
import { eventually } from '../../api/http/eventually';
import type { Client } from '../../support/client';
import type { TestGateway } from '../../support/gateway';
import { hold } from '../../support/hold';
import type { FakeMongos } from '../../support/mongos';

/** Holds the answer to movePrimary. */
export function holdMove(mongos: Pick<FakeMongos, 'databases' | 'replies'>) {
  const { held, letGo } = hold();
  const asked = new Promise<void>((resolve) => {
    mongos.replies.movePrimary = async ({ movePrimary, to }) => {
      resolve();
      await held;
      mongos.databases.set(String(movePrimary), String(to));
      return {};
    };
  });
  return { asked, letGo };
}

/** A write that waits before its commit. */
export async function holdWrite(
  { databases }: Pick<TestGateway, 'databases'>,
  organisation: Organisation,
  caller: Client,
) {
  const data = databases.organisationData(organisation);
  const transaction = data.transaction.bind(data);
  const { held, letGo: goOn } = hold();
  let isInside = false;
  data.transaction = (work, how) =>
    transaction(async (session) => {
      const done = await work(session);
      isInside = true;
      await held;
      return done;
    }, how);
  const writing = caller.post('/products/bulk', { products: [{ sku: 'B', name: 'B' }] });
  await eventually(() => isInside);
  data.transaction = transaction;
  return { data, writing, goOn };
}
