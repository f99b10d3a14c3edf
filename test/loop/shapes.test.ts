import { BULK_BODY_LIMIT } from '../../src/http/body';
import { WORST_BODIES } from '../support/worstBodies';
import { startWatched, watch, type Watched } from '../support/watchdog';

/* Bodies whose objects differ as much as they may. */

let gateway: Watched;
beforeAll(async () => {
  gateway = await startWatched();
});
afterAll(() => gateway.stop());

test.each(WORST_BODIES.filter(({ name }) => /out of|orders?$/.test(name)))('$name', async ({ name, path, make }) => {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', connection: 'close' };
  const body = make(BULK_BODY_LIMIT);
  const send = async (): Promise<void> => {
    const answer = await fetch(`${gateway.url}/api/v1${path}`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    expect(answer.status).toBe(422);
  };
  await watch(gateway, name, async () => {
    for (let sent = 0; sent < 3; sent += 1) await send();
  });
});
