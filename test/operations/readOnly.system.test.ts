import { openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { eventually } from '../api/http/eventually';
import { raw } from '../api/http/raw';
import { callerOf, makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';

/* A database that answers every question, but stores nothing: its disk is full, or writes wait for something. */

jest.mock('../../src/mongo/availability', () => jest.requireActual<object>('../support/quickLoops'));

const WRITES = ['insert', 'update', 'findAndModify', 'commitTransaction'];
const FULL = { ok: 0, code: 14031, codeName: 'OutOfDiskSpace', errmsg: 'available disk space is too low' };

type Fault = 'refused' | 'stalled';

/** A gateway whose database fails as `fails` says, once that is set. */
async function sceneOf(how: Fault) {
  let fails = false;
  let stalled: (() => void)[] = [];
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command = {}) => {
      if (!fails || !WRITES.some((name) => name in command)) return reply;
      if (how === 'refused') return replyWith(reply, FULL);
      return new Promise((resolve) =>
        stalled.push(() => {
          resolve(reply);
        }),
      );
    },
  });
  const gateway = await startGateway({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: `scopegate_read_only_${how}` });
  const readiness = async (): Promise<unknown> => JSON.parse((await raw(gateway.url, '/readyz', {})).text);
  return {
    gateway,
    readiness,
    stateIs: (state: string): Promise<true> =>
      eventually(async () => JSON.stringify(await readiness()).includes(`"database":"${state}"`) || undefined),
    fail: () => {
      fails = true;
    },
    mend: () => {
      fails = false;
      for (const go of stalled) go();
      stalled = [];
    },
    stop: async () => {
      await gateway.stop();
      await proxy.close();
    },
  };
}

// mostly waits for the gateway's probes
test.concurrent.each<Fault>(['refused', 'stalled'])(
  'a database whose writes are %s is reported by /readyz, which stays 200, by a metric and by the log, and reads are served',
  async (how) => {
    const { gateway, readiness, stateIs, fail, mend, stop } = await sceneOf(how);
    try {
      const organisation = await makeOrganisation(gateway);
      const caller = await callerOf(gateway, organisation);
      gateway.logs.length = 0;
      fail();
      await stateIs('read_only');
      // on a busy machine the database may count as away for a moment
      await eventually(async () => {
        const state = await readiness();
        const { text } = await raw(gateway.url, '/metrics', {});
        const read = await caller.get('/products');
        const isAway = text.includes('\nscopegate_database_up 0\n') || read.body.code === 'unavailable';
        if (isAway || JSON.stringify(state).includes('unavailable')) return false;
        expect(state).toMatchObject({ status: 'degraded', checks: { database: 'read_only' } });
        expect(text).toContain('\nscopegate_database_writable 0\n');
        expect(text).toContain('\nscopegate_database_up 1\n');
        expect(read.status).toBe(200);
        return true;
      });
      const said = {
        database: 'read_only',
        error: expect.objectContaining({ message: expect.any(String) }),
      };
      expect(gateway.logs.filter(({ database }) => database === 'read_only')).toEqual([expect.objectContaining(said)]);
      mend();
      await stateIs('ok');
      expect(gateway.logs).toContainEqual(expect.objectContaining({ database: 'ok' }));
      await eventually(async () => {
        const { status, body } = await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] });
        expect([undefined, 'unavailable']).toContain(body.code);
        return status === 200;
      });
    } finally {
      mend();
      await stop();
    }
  },
);
