import { commandLine, NOBODY } from './commandLine';

const cli = commandLine();

test('an organisation is created with the plan integrations by default, and is listed', async () => {
  const first = await cli.json<{ id: string }>('org', 'create', '--name', 'Ärger & Söhne');
  const second = await cli.json<{ id: string }>(
    'org',
    'create',
    '--name',
    'Acme',
    '--plan',
    'starter',
    '--currency',
    'EUR',
  );
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    name: 'Ärger & Söhne',
    plan: 'integrations',
  });
  expect(second).toEqual({ id: expect.any(String) as unknown, name: 'Acme', plan: 'starter' });
  expect(await cli.json('org', 'list')).toEqual([first, second]);
});

test('set-plan changes the plan and prints it', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Mover');
  expect(await cli.json('org', 'set-plan', id, 'enterprise')).toEqual({ id, name: 'Mover', plan: 'enterprise' });
  expect(await cli.json('org', 'list')).toContainEqual({ id, name: 'Mover', plan: 'enterprise' });
});

test('an organisation that does not exist is an error with a next step', async () => {
  const { code, stdout, stderr } = await cli.run('org', 'set-plan', NOBODY, 'starter', '--json');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
});

test('an unknown cluster is a usage error that lists the clusters', async () => {
  const { code, stderr } = await cli.run('org', 'create', '--name', 'A', '--cluster', 'mars');
  expect(code).toBe(2);
  expect(stderr).toContain('unknown cluster mars; clusters are default');
});

test('output to a pipe is plain text', async () => {
  const { stdout } = await cli.run('org', 'list');
  expect(stdout).toMatch(/^ID +PLAN +NAME\n/);
  // ESLint flags the escape character in a literal
  expect(stdout).not.toContain(String.fromCharCode(27));
});
