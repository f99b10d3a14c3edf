import { head, openWire } from '../../operations/wire';
import { watch, watchedGateway } from '../../support/watchdog';

/* Conditions as long as a header may be, of a document that needs no key. */

const LENGTH = 15_000;
const CALLERS = 60;

const gateway = watchedGateway();

test.each([
  ['spaces between its tags', `"a"${' '.repeat(LENGTH)},"b"`],
  ['tags', '"a",'.repeat(LENGTH / 4)],
  ['opening quotes', 'W/"'.repeat(LENGTH / 3)],
])('60 requests at once whose If-None-Match has thousands of %s hold up nobody', async (what, condition) => {
  const ask = async (): Promise<void> => {
    const wire = await openWire(gateway.url);
    wire.send(`${head('GET /api/v1/openapi.json', `If-None-Match: ${condition}`, 'Connection: close')}\r\n`);
    expect(await wire.whole()).toMatch(/^HTTP\/1\.1 200 /);
  };
  await watch(gateway, `a condition of ${what}`, () => Promise.all(Array.from({ length: CALLERS }, ask)));
});
