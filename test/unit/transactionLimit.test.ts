import { checkTransactionLimit } from '../../src/cli/doctor/transactionLimit';

/** The check for clusters with these limits; undefined for one that does not tell. */
function check(limits: Record<string, number | undefined>): ReturnType<typeof checkTransactionLimit> {
  const databases = {
    clusters: Object.keys(limits),
    transactionLimit: (cluster: string) => Promise.resolve(limits[cluster]),
  };
  return checkTransactionLimit({ databases } as unknown as Parameters<typeof checkTransactionLimit>[0]);
}

test('says nothing about a cluster that does not tell, and does not warn at 15 s', async () => {
  expect(await check({ default: 15, eu: undefined })).toEqual({
    name: 'transaction limit',
    ok: true,
    detail: 'default 15 s',
  });
});

test('says nothing if no cluster tells', async () => {
  expect(await check({ default: undefined })).toBeUndefined();
});
