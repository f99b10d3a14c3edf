import { checkTransactionLimit } from '../../src/cli/doctor/servers';

/** The check for a database with this limit; undefined for one that does not report it. */
function check(limit: number | undefined): ReturnType<typeof checkTransactionLimit> {
  return checkTransactionLimit({
    store: { databases: { transactionLimit: () => Promise.resolve(limit) } },
    config: {},
  } as never);
}

test('a limit of 15 s is no warning', async () => {
  expect(await check(15)).toEqual({ name: 'transaction limit', ok: true, detail: '15 s' });
});

test('there is no check if the database does not report its limit', async () => {
  expect(await check(undefined)).toBeUndefined();
});
