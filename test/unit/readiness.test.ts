import { NoAnswerError } from '../../src/async/timeout';
import { createReadiness } from '../../src/gateway/health';

const databases = {
  findsKeys: () => Promise.resolve(true),
  keysFailure: () => new Error(),
  failure: () => new NoAnswerError('no answer within 1500 ms'),
};
const limiters = { health: () => Promise.resolve('ok' as const) };

test('a gateway is ready once the check that admits requests knows that the database is back', async () => {
  let isDown = true;
  let responds = false;
  const ask = (): Promise<boolean> => {
    isDown = !responds;
    return Promise.resolve(responds);
  };
  const availability = { isReadOnly: () => false, isDown: () => isDown, ask };
  const readiness = createReadiness(databases, availability, undefined, limiters, () => false);
  expect(await readiness()).toMatchObject({ status: 'unavailable', detail: 'no answer within 1500 ms' });
  responds = true;
  expect((await readiness()).status).toBe('ok');
  expect(isDown).toBe(false);
});
