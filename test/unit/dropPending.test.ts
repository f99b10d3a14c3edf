import mongoose, { type Connection } from 'mongoose';
import { createCourtesy } from '../../src/database/courtesy';
import type { Standing } from '../../src/database/keeper';
import { OrganisationData } from '../../src/database/organisationData';

/* MongoDB 5.0, which answers DatabaseDropPending while somebody else drops the database. */

const PENDING = new mongoose.mongo.MongoServerError({ code: 215, errmsg: 'the database is being dropped' });

function dataOf(standing: Standing, fault: Error): OrganisationData {
  const db = { dropDatabase: () => Promise.reject(fault) };
  const connection = { name: 'org_1', getClient: () => ({ db: () => db }) } as unknown as Connection;
  const upkeep = {
    ...{ standingOf: () => Promise.resolve(standing), looks: undefined, quota: undefined },
    onFailure: () => undefined,
  };
  const place = { id: '1', cluster: 'default' };
  return new OrganisationData(place, connection, [], createCourtesy(), () => Promise.reject(PENDING), upkeep);
}

test('a database that somebody else is dropping counts as dropped', async () => {
  await expect(dataOf('open', PENDING).drop()).resolves.toBeUndefined();
  const other = new mongoose.mongo.MongoServerError({ code: 13, errmsg: 'not authorised' });
  await expect(dataOf('open', other).drop()).rejects.toThrow('not authorised');
});

test('a late write to the database of an erased organisation is 503, also if others drop it at the same time', async () => {
  const late = dataOf('gone', PENDING).changing(() => Promise.reject(PENDING));
  await expect(late).rejects.toMatchObject({ code: 'unavailable', status: 503 });
});
