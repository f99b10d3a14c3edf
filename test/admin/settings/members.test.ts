import type { Json } from '../../support/client';
import { makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { sendForm, signIn } from './people';

const gateway = served();

test('members are listed by last sign-in, most recent first, with their role then and whether they are signed in', async () => {
  const own = await makeOrganisation(gateway);
  const before = Date.now();
  const max = await signIn(gateway, own, 'member', 'Max');
  const ada = await signIn(gateway, own, 'member', 'Ada');
  await signIn(gateway, own, 'admin', 'Ada');
  // of another organisation
  await signIn(gateway, await makeOrganisation(gateway), 'admin', 'Eve');
  const { data, has_more } = await max.call('members');
  const signedIn = { from: '127.0.0.1', signed_in: true, last_sign_in_at: expect.any(String) };
  expect({ data, has_more }).toEqual({
    data: [
      { id: 'link:Ada', name: 'Ada', role: 'admin', ...signedIn },
      { id: 'link:Max', name: 'Max', role: 'member', ...signedIn },
    ],
    has_more: false,
  });
  for (const { last_sign_in_at } of data) {
    expect(Math.abs(Date.parse(String(last_sign_in_at)) - before)).toBeLessThan(60_000);
  }
  // one of two sessions
  await sendForm(gateway, '/settings/sign-out', { csrf: ada.csrf }, { cookie: ada.cookie });
  expect((await max.call('members')).data[0]).toMatchObject({ signed_in: true });
  const whose = { organisationId: own.id, userId: 'link:Ada' };
  await gateway.control.sessions.endAll(whose, { who: 'cli:test', from: 'here' });
  expect((await max.call('members')).data.map(({ name, signed_in }: Json) => [name, signed_in])).toEqual([
    ['Ada', false],
    ['Max', true],
  ]);
});

test('an expired session does not count, even if it is not deleted yet', async () => {
  const own = await makeOrganisation(gateway);
  await signIn(gateway, own, 'admin', 'Ada');
  const max = await signIn(gateway, own, 'member', 'Max');
  const sessions = gateway.databases.control.collection('sessions');
  await sessions.updateMany({ 'user.id': 'link:Ada', organisation_id: own.id }, { $set: { ends_at: new Date(0) } });
  expect((await max.call('members')).data).toMatchObject([{ name: 'Max' }, { name: 'Ada', signed_in: false }]);
});

test('a user who signs in many times concurrently is one member', async () => {
  const own = await makeOrganisation(gateway);
  const [ada] = await Promise.all(Array.from({ length: 6 }, () => signIn(gateway, own, 'admin', 'Ada')));
  expect((await ada!.call('members')).data).toMatchObject([{ name: 'Ada' }]);
});

test('at most 200 members are listed, those who signed in last', async () => {
  const own = await makeOrganisation(gateway);
  const ada = await signIn(gateway, own, 'admin', 'Ada');
  const many = Array.from({ length: 205 }, (_, at) => ({
    _id: `${own.id}:${String(at)}`,
    organisation_id: own.id,
    user: { id: String(at), name: `N${String(at)}` },
    role: 'member',
    last_sign_in_at: new Date(Date.UTC(2026, 0, 1, 0, at)),
    from: '127.0.0.1',
  }));
  await gateway.databases.control.collection<{ _id: string }>('members').insertMany(many);
  const { data, has_more } = await ada.call('members');
  expect(data).toHaveLength(200);
  expect([data[0]?.name, data[1]?.name, data.at(-1)?.name]).toEqual(['Ada', 'N204', 'N6']);
  expect(has_more).toBe(true);
});
