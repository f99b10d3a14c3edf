import { client } from '../support/client';
import { makeKey } from '../support/factories';
import { late, served } from '../support/gateway';
import { ALL_FACES, documentOf, operations, userArguments, userOperations } from '../support/operations';
import { makeLink, person, sendForm, sendLink, signIn, visit } from '../admin/settings/people';
import { makeStocked } from '../support/fixtures/contract';

const me = operations.find(({ name }) => name === 'me')!;

const [gateway, other] = [served(), served()];
const organisation = late(() => makeStocked(gateway));
const key = late(() => makeKey(gateway, organisation));
const caller = late(() => Promise.resolve(client(gateway, key.key)));
beforeEach(() => gateway.control.organisations.resume(organisation.id));

const suspend = (): Promise<unknown> => other.control.organisations.suspend(organisation.id);
const resume = (): Promise<unknown> => other.control.organisations.resume(organisation.id);

/*
 * When an organisation is closed, and open again. test/security/attacks/matrix.test.ts tests that each operation rejects closed ones, and
 * test/operations/plans.test.ts when a plan closes one.
 */

/** The code and status of each API at each gateway. */
async function answers(): Promise<object[]> {
  const found: object[] = [];
  for (const one of [gateway, other]) {
    for (const face of ALL_FACES) {
      const answer = await face.call(client(one, key.key), me, {});
      found.push({ status: answer.status, code: face.errorOf(answer)?.code as string | undefined });
    }
  }
  return found;
}

const all = (status: number, code?: string): object[] =>
  [gateway, other].flatMap(() => ALL_FACES.map(() => ({ status, code })));

describe('while an organisation is suspended', () => {
  test('its keys are rejected from the next request on every gateway and API until it is resumed', async () => {
    expect(await answers()).toEqual(all(200));
    await suspend();
    expect(await answers()).toEqual(all(403, 'organisation_suspended'));
    await resume();
    expect(await answers()).toEqual(all(200));
  });

  test('the settings page and each of its operations are rejected, but signing out works', async () => {
    const admin = await signIn(gateway, organisation);
    await suspend();
    for (const operation of userOperations) {
      const { status, body } = await admin.graphql(documentOf(operation), userArguments(operation, key.id));
      expect({ operation: operation.name, status }).toEqual({ operation: operation.name, status: 403 });
      expect(body.errors[0].extensions.code).toBe('organisation_suspended');
    }
    const page = await visit(gateway, '/settings/integrations', admin.cookie);
    expect(page.status).toBe(403);
    expect(await page.text()).toContain('organisation_suspended');
    const out = await sendForm(gateway, '/settings/sign-out', { csrf: admin.csrf }, { cookie: admin.cookie });
    expect(out.status).toBe(303);
    await resume();
    expect((await admin.graphql('{ keys { has_more } }')).status).toBe(401);
  });

  test('a sign-in link is rejected, and works once the organisation is resumed', async () => {
    await suspend();
    const link = await makeLink(gateway, organisation);
    const rejected = await sendLink(gateway, link);
    expect(rejected.status).toBe(403);
    await resume();
    const cookie = (await sendLink(gateway, link)).headers.get('set-cookie') ?? '';
    expect((await person(gateway, cookie.split(';', 1)[0]!)).csrf).not.toBe('');
  });
});

test('organisations and keys stored before states were introduced are active', async () => {
  const rows = gateway.databases.control.collection<{ _id: string }>('organisations');
  const keys = gateway.databases.control.collection<{ _id: string }>('api_keys');
  await rows.updateOne({ _id: organisation.id }, { $unset: { state: '' } });
  await keys.updateOne({ _id: key.id }, { $unset: { 'organisation.state': '' } });
  expect((await caller.get('/me')).status).toBe(200);
  expect(await gateway.control.organisations.find(organisation.id)).toMatchObject({ state: 'active' });
  await suspend();
  expect((await caller.get('/me')).status).toBe(403);
});
