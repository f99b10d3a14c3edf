import { commandLine, makeOrganisation, NOBODY } from './commandLine';

const cli = commandLine();

interface Link {
  readonly url: string;
  readonly role: string;
  readonly expires_at: string;
}

test('org link prints a link based on PUBLIC_URL, valid for 15 minutes, for an admin by default', async () => {
  const { id, name, plan } = await makeOrganisation(cli);
  const organisation = { id, name, plan };
  const link = await cli.json<Link>('org', 'link', '--org', id);
  expect(link).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/settings\/sign-in\?link=[\w-]{43}$/) as string,
    role: 'admin',
    expires_at: expect.any(String) as string,
    organisation,
  });
  const minutes = (Date.parse(link.expires_at) - Date.now()) / 60_000;
  expect(minutes).toBeGreaterThan(13);
  expect(minutes).toBeLessThanOrEqual(15);

  const elsewhere = commandLine({ PUBLIC_URL: 'https://keys.example', CONTROL_DATABASE: cli.controlDatabase });
  const member = await elsewhere.run('org', 'link', '--org', organisation.id, '--role', 'member', '--name', 'Ann Lee');
  expect(member).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^https:\/\/keys\.example\/settings\/sign-in\?link=[\w-]{43}\n$/),
  });
  expect(member.stderr).toMatch(/signs Ann Lee in to Northwind Traders as member, once/);
});

test('org sign-out prints how many sessions it ended, and is audited', async () => {
  const { id } = await makeOrganisation(cli);
  await cli.json('org', 'link', '--org', id, '--name', 'Ann Lee');
  expect(await cli.json('org', 'sign-out', '--org', id, '--user', 'user:link:Ann Lee')).toEqual({ ended: 0 });
  const events = await cli.json<{ action: string; details: object }[]>('audit', '--org', id);
  expect(events.slice(0, 2)).toMatchObject([
    { action: 'user.signed_out', details: { everywhere: 'link:Ann Lee', sessions: 0 } },
    { action: 'link.created', details: { user: 'link:Ann Lee', role: 'admin' } },
  ]);
});

test.each(['link', 'sign-out'])(
  'org %s for an organisation that does not exist is an error with a next step',
  async (name) => {
    const { code, stdout, stderr } = await cli.run('org', name, '--org', NOBODY, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
  },
);

test('org link rejects an unknown role', async () => {
  const { code, stderr } = await cli.run('org', 'link', '--org', NOBODY, '--role', 'owner');
  expect(code).toBe(2);
  expect(stderr).toContain('member, admin');
});
