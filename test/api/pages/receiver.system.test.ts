import { randomUUID } from 'node:crypto';
import { freePort } from '../../../faults/processes';
import { RECEIVER } from '../../../src/pages/webhooks';
import { endpointSecret, secretText, signedHeaders } from '../../../src/webhooks/signing';
import { launch } from '../../packages/examples/run';
import { eventually } from '../http/eventually';

/* The receiver that the page /webhooks shows. */

const SECRET = endpointSecret('a master secret of webhooks, for tests', randomUUID(), 1);

let receiver: ReturnType<typeof launch>;
let url: string;

beforeAll(async () => {
  const PORT = String(await freePort());
  url = `http://127.0.0.1:${PORT}/hooks`;
  const env = { PORT, WEBHOOK_SIGNING_SECRET: secretText(SECRET) };
  receiver = launch(process.execPath, ['-e', RECEIVER], { env });
  await eventually(() => fetch(url).catch(() => undefined));
});
afterAll(() => receiver.kill());

async function post(id: string, body: string, sent = body): Promise<number> {
  const headers = signedHeaders({ id, timestamp: Math.floor(Date.now() / 1000), body }, [SECRET]);
  return (await fetch(url, { method: 'POST', headers, body: sent })).status;
}

test('the receiver on the page accepts a signed event once, and rejects an altered one', async () => {
  const id = randomUUID();
  const body = JSON.stringify({ id, type: 'order.created', object: { type: 'order', id: 'one' } });
  expect(await post(id, body)).toBe(204);
  expect(await post(id, body)).toBe(204);
  expect(await post(id, body, body.replace('one', 'two'))).toBe(401);
  await eventually(() => receiver.said() !== '');
  expect(receiver.said()).toBe('order.created one\n');
});
