import { commandLine, NOBODY } from './commandLine';

const cli = commandLine();

test('an organisation is created on the plan integrations by default, and is listed', async () => {
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
    cluster: 'default',
    state: 'active',
  });
  expect(second).toMatchObject({ name: 'Acme', plan: 'starter' });
  expect(await cli.json('org', 'list')).toEqual([first, second]);
});

test('set-plan changes the plan and prints it', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Mover');
  expect(await cli.json('org', 'set-plan', id, 'enterprise')).toEqual({
    ...{ id, name: 'Mover', plan: 'enterprise' },
    ...{ cluster: 'default', state: 'active' },
  });
  expect(await cli.json('org', 'list')).toContainEqual(expect.objectContaining({ id, plan: 'enterprise' }));
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
  expect(stdout).toMatch(/^ID +PLAN +STATE +CLUSTER +NAME\n/);
  // ESLint flags the escape character in a literal
  expect(stdout).not.toContain(String.fromCharCode(27));
});

test('list filters by cluster and plan, as JSON, as JSON lines and as a table', async () => {
  const mine = commandLine();
  const made = [];
  for (const plan of ['starter', 'enterprise', 'starter']) {
    made.push(await mine.json<{ id: string; plan: string }>('org', 'create', '--name', plan, '--plan', plan));
  }
  const starters = made.filter(({ plan }) => plan === 'starter');
  expect(await mine.json('org', 'list', '--plan', 'starter', '--cluster', 'default')).toEqual(starters);
  expect(await mine.json('org', 'list', '--cluster', 'mars')).toEqual([]);
  const lines = await mine.run('org', 'list', '--json-lines');
  expect(
    lines.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(made);
  expect((await mine.run('org', 'list', '--plan', 'starter')).stdout.split('\n')).toHaveLength(4);
  expect(await mine.run('org', 'list', '--json', '--json-lines')).toMatchObject({ code: 2, stdout: '' });
  expect(await mine.run('org', 'list', '--plan', 'gold')).toMatchObject({ code: 2, stdout: '' });
});

test('show, rename, suspend and resume print the organisation; repeating them changes and audits nothing', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Before');
  const shown = { id, name: 'Before', plan: 'integrations', cluster: 'default', state: 'active' };
  expect(await cli.json('org', 'show', id)).toEqual({ ...shown, stored_bytes: 0 });
  for (const again of [1, 2]) {
    expect({ again, shown: await cli.json('org', 'rename', id, 'After') }).toMatchObject({ shown: { name: 'After' } });
    expect(await cli.json('org', 'suspend', id)).toEqual({ ...shown, name: 'After', state: 'suspended' });
  }
  for (const again of [1, 2]) {
    expect({ again, shown: await cli.json('org', 'resume', id) }).toMatchObject({ shown: { state: 'active' } });
  }
  const events = await cli.json<{ action: string; details: object }[]>('audit', '--org', id);
  expect(events.map(({ action }) => action).reverse()).toEqual([
    ...['organisation.created', 'organisation.renamed', 'organisation.suspended', 'organisation.resumed'],
  ]);
  expect(events[2]?.details).toEqual({ from: 'Before', to: 'After' });
});

test.each([
  ['show', NOBODY],
  ['rename', NOBODY, 'Name'],
  ['suspend', NOBODY],
  ['resume', NOBODY],
  ['erase', NOBODY, '--confirm', 'Name'],
])('org %s for an organisation that does not exist is an error', async (...args) => {
  const { code, stdout, stderr } = await cli.run('org', ...args, '--json');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
});

test('the audit log of an organisation that never existed is an error, that of an erased one is shown', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Short');
  await cli.json('org', 'erase', id, '--confirm', 'Short', '--no-export');
  expect(await cli.json('audit', '--org', id)).toMatchObject([{ action: 'organisation.erased' }]);
  expect(await cli.json('audit', '--org', id, '--action', 'key.created')).toEqual([]);
  for (const options of [[], ['--since', '1d']]) {
    const { code, stdout, stderr } = await cli.run('audit', '--org', NOBODY, ...options, '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
  }
});

test('audit says when there are more events than --limit shows', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'One');
  await cli.json('org', 'rename', id, 'Two');
  const [cut, whole] = [
    await cli.run('audit', '--org', id, '--limit', '1', '--json'),
    await cli.run('audit', '--org', id, '--limit', '2', '--json'),
  ];
  expect([cut, whole].map(({ stdout }) => (JSON.parse(stdout) as unknown[]).length)).toEqual([1, 2]);
  expect(cut.stderr).toContain('Only the newest 1 are shown; there are more: see --limit');
  expect(whole.stderr).not.toContain('--limit');
});
