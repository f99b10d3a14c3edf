import { mongo } from 'mongoose';
import { AppError } from '../../src/errors';
import { resourceOf } from '../../src/resources';
import { createWidening } from '../../src/tenant/widening';

/* A validator that refuses a write while its organisation is moved: the caller is told when to retry, and the next write tries again. */

test('what refuses the change of a validator with a code of its own is the answer, and is not remembered', async () => {
  const database = { listCollections: () => ({ toArray: () => Promise.resolve([]) }) };
  let tries = 0;
  const context = { validation: 'error', onWidened: () => undefined } as const;
  const widening = createWidening('id', database as unknown as mongo.Db, context, () => {
    tries += 1;
    return Promise.reject(new AppError('unavailable', 'It is being moved.', { reason: 'moving' }));
  });
  const refused = () =>
    Promise.reject(new mongo.MongoServerError({ code: 121, message: 'Document failed validation' }));
  for (const expected of [1, 2]) {
    await expect(widening.runWidening([resourceOf('products')], refused)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(tries).toBe(expected);
  }
});
