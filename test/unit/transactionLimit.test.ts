import { checkTransactionLimit } from '../../src/cli/doctor/clusters';

/** The check for clusters with these limits; undefined for one that does not report it. */
function check(limits: Record<string, number | undefined>): ReturnType<typeof checkTransactionLimit> {
  const databases = {
    clusters: Object.keys(limits),
    transactionLimit: (cluster: string) => Promise.resolve(limits[cluster]),
  };
  return checkTransactionLimit({ store: { databases } } as never);
}

test('a cluster that does not report its limit is omitted, and 15 s is no warning', async () => {
  expect(await check({ default: 15, eu: undefined })).toEqual({
    name: 'transaction limit',
    ok: true,
    detail: 'default 15 s',
  });
});

test('there is no check if no cluster reports its limit', async () => {
  expect(await check({ default: undefined })).toBeUndefined();
});
