import { openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { eventually } from '../api/http/eventually';
import { raw } from '../api/http/raw';
import { callerOf, makeOrganisation } from '../support/factories';
import { late, servedBy, startGateway } from '../support/gateway';

/* A database that answers every question, but stores nothing: its disk is full, or writes wait for something. */

const WRITES = ['insert', 'update', 'findAndModify', 'commitTransaction'];
const FULL = { ok: 0, code: 14031, codeName: 'OutOfDiskSpace', errmsg: 'available disk space is too low' };

let fails: 'refused' | 'stalled' | undefined;
let stalled: (() => void)[] = [];
const proxy = late(() =>
  openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command = {}) => {
      if (fails === undefined || !WRITES.some((name) => name in command)) return reply;
      if (fails === 'refused') return replyWith(reply, FULL);
      return new Promise((resolve) =>
        stalled.push(() => {
          resolve(reply);
        }),
      );
    },
  }),
);
const gateway = servedBy(() => startGateway({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: 'scopegate_read_only' }));
afterAll(() => proxy.close());

const readiness = async (): Promise<unknown> => JSON.parse((await raw(gateway.url, '/readyz', {})).text);
const stateIs = (state: string): Promise<true> =>
  eventually(async () => JSON.stringify(await readiness()).includes(`"database":"${state}"`) || undefined);

test.each(['refused', 'stalled'] as const)(
  'a database whose writes are %s is reported by /readyz, which stays 200, by a metric and by the log, and reads are served',
  async (how) => {
    const organisation = await makeOrganisation(gateway);
    const caller = await callerOf(gateway, organisation);
    gateway.logs.length = 0;
    fails = how;
    await stateIs('read_only');
    expect(await readiness()).toMatchObject({ status: 'degraded', checks: { database: 'read_only' } });
    const { text } = await raw(gateway.url, '/metrics', {});
    expect(text).toContain('\nscopegate_database_writable 0\n');
    expect(text).toContain('\nscopegate_database_up 1\n');
    const said = {
      database: 'read_only',
      error: expect.objectContaining({ message: expect.any(String) }),
    };
    expect(gateway.logs.filter(({ database }) => database !== undefined)).toEqual([expect.objectContaining(said)]);
    expect((await caller.get('/products')).status).toBe(200);
    fails = undefined;
    for (const go of stalled) go();
    stalled = [];
    await stateIs('ok');
    expect(gateway.logs).toContainEqual(expect.objectContaining({ database: 'ok' }));
    expect((await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] })).status).toBe(200);
  },
  60_000,
);
