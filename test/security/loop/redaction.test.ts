import { head, openWire } from '../../operations/wire';
import { watch, watchedGateway } from '../../support/watchdog';

/* Paths as long as a request may have, in which looking for keys takes the longest. */

const LENGTH = 15_000;
const CALLERS = 60;

const gateway = watchedGateway();

test.each([
  ['parts of a key', `${'a'.repeat(39)}_`],
  ['ids of keys', `${'a'.repeat(21)}_`],
])('60 requests at once with a path of %s hold up nobody', async (name, text) => {
  const path = `/${text.repeat(LENGTH / text.length)}_`;
  const ask = async (): Promise<void> => {
    const wire = await openWire(gateway.url);
    wire.send(`${head(`GET ${path}`, 'Connection: close')}\r\n`);
    expect(await wire.whole()).toMatch(/^HTTP\/1\.1 404 /);
  };
  await watch(gateway, `a path of ${name}`, () => Promise.all(Array.from({ length: CALLERS }, ask)));
});
