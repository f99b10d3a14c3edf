import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway } from '../support/gateway';
import { head, openWire } from './wire';

test('a request that takes too long gets 503 with Retry-After before its connection times out', async () => {
  await using gateway = await startGateway({}, { answer: 1500, stalled: 30_000 });
  const organisation = await makeOrganisation(gateway);
  const { key } = await makeKey(gateway, organisation);
  const never = () => new Promise(() => undefined);
  Object.assign(gateway.databases.organisationData(organisation).objects, { read: never, readRaw: never });
  const wire = await openWire(gateway.url);
  const path = '/api/v1/products/0c8b4d6a-6f1e-4b63-8d1c-3f6c9f3f6c55';
  wire.send(`${head(`GET ${path}`, `Authorization: Bearer ${key}`, 'Connection: close')}\r\n`);
  expect(await wire.whole()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nRetry-After: 2\r\n[^]*"code":"unavailable"/);
});
