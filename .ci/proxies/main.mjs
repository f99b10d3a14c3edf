import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PROXIES } from './configurations.mjs';
import { runCollection } from './postman.mjs';

/* Runs every case through every proxy, one after another, and prints a table. Exits with 1 if one failed. */

const [work, tools, ...chosen] = process.argv.slice(2);
const { SCOPEGATE_URL, SCOPEGATE_KEY, NGINX_PORT, PUBLIC_URL, DATA_DIR, ORGANISATION, PATH, HOME } = process.env;
const gateway = new URL(SCOPEGATE_URL).host;
const ROOT = resolve('.');
const NORTHWIND = join(ROOT, 'examples', 'northwind');
/** In milliseconds. */
const [PATIENCE, FOLLOWED] = [60_000, 45_000];
const LOADER = join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs');
const LANGUAGES = {
  TypeScript: (job) => [process.execPath, '--import', LOADER, join(tools, 'programs', `${job}.ts`)],
  Python: (job) => [join(tools, 'python', 'bin', 'python'), join(ROOT, 'examples', 'jobs', 'python', `${job}.py`)],
};
const ndjson = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Starts a program; `said` is what it has printed. */
function start([command, ...args], { cwd, url }) {
  const env = { PATH, HOME, SCOPEGATE_KEY, ...(url && { SCOPEGATE_URL: url }) };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const one = { child, said: '', closed: once(child, 'close') };
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (one.said += text));
  return one;
}

/** Runs a program to its end, which must be a success and print what is expected. */
async function ends(command, where, expected = '') {
  const program = start(command, where);
  const timer = setTimeout(() => program.child.kill('SIGKILL'), PATIENCE);
  const [code] = await program.closed;
  clearTimeout(timer);
  if (code !== 0 || !program.said.includes(expected)) throw new Error(`ended with ${code}, and said: ${program.said}`);
}

async function until(look, within = FOLLOWED) {
  for (const latest = Date.now() + within; Date.now() < latest; await sleep(100)) if (await look()) return;
  throw new Error(`not within ${within} ms: ${look}`);
}

/** Changes an order, as the product that owns it does. */
let changes = 0;
async function changeOrder(folder) {
  const [line] = (await readFile(join(NORTHWIND, 'orders.ndjson'), 'utf8')).split('\n');
  const order = {
    ...JSON.parse(line),
    updated_at: new Date().toISOString(),
    customer_reference: `change ${(changes += 1)}`,
  };
  await writeFile(join(folder, 'orders.ndjson'), ndjson([order]));
  const command = [process.execPath, 'dist/main.js', 'import', '--org', ORGANISATION, join(folder, 'orders.ndjson')];
  const child = spawn(command[0], command.slice(1), {
    env: { ...process.env, DATA_DIR },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`the import ended with ${code}: ${said}`);
  return order;
}

/** Runs a program that follows changes: `isReady`, then an order changes, and `hasSeen`. */
async function follows(command, where, isReady, hasSeen) {
  const program = start(command, where);
  try {
    await until(() => isReady(program));
    const before = program.said;
    const order = await changeOrder(where.cwd);
    await until(() => hasSeen(program, order, before));
  } catch (error) {
    throw new Error(`${error.message}\nthe program said: ${program.said.slice(-2000)}`);
  } finally {
    program.child.kill('SIGKILL');
    await program.closed;
  }
}

const api = async (url, path) => {
  const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${SCOPEGATE_KEY}` } });
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`);
  return answer.json();
};

/** What a job needs, and how to tell that it was done. */
const JOBS = {
  catalogue: (command, where) => ends([...command, join(NORTHWIND, 'products.ndjson')], where),
  orders: (command, where) => ends([...command, '1996-07'], where),
  async customers(command, where) {
    const { data } = await api(SCOPEGATE_URL, '/customers?limit=20');
    const customer = data.find(({ contacts }) => contacts.length > 0);
    const [contact] = customer.contacts;
    const phone = String(Date.now());
    const change = { customer_id: customer.id, contact_id: contact.id, member: 'phone', was: contact.phone, is: phone };
    await writeFile(join(where.cwd, 'changes.ndjson'), ndjson([change]));
    await ends(command, where);
    const { contacts } = await api(SCOPEGATE_URL, `/customers/${customer.id}`);
    if (contacts[0].phone !== phone) throw new Error('the change was not stored');
  },
  async helpdesk(command, where) {
    const ticket = `T-${Date.now()}`;
    const message = {
      id: `${ticket}-1`,
      ticket,
      author: 'customer',
      name: 'Ann',
      email: 'ann@example.com',
      text: 'Where is it?',
    };
    const answer = { id: `${ticket}-2`, ticket, author: 'organisation', name: 'Support', text: 'On its way.' };
    await writeFile(
      join(where.cwd, 'inbox.ndjson'),
      ndjson([message, answer, { id: `${ticket}-3`, ticket, close: true }]),
    );
    await ends(command, where, `${ticket}-3`);
  },
  dashboard: (command, where) =>
    follows(
      command,
      where,
      ({ said }) => said.includes('1996-07'),
      ({ said }, _order, before) => said.length > before.length,
    ),
  events: (command, where) =>
    follows(
      command,
      where,
      ({ said }) => said.includes('copied everything'),
      async (_program, { id }) => {
        const text = await readFile(join(where.cwd, 'orders', `${id}.json`), 'utf8').catch(() => '');
        return text.includes(`change ${changes}`);
      },
    ),
};

const CASES = {
  'TypeScript client': (where) => ends([process.execPath, join(tools, 'programs', 'client.mjs')], where),
  'Python client': (where) =>
    ends([join(tools, 'python', 'bin', 'python'), join(ROOT, '.ci', 'proxies', 'client.py')], where),
  ...Object.fromEntries(
    Object.entries(JOBS).flatMap(([job, run]) =>
      Object.entries(LANGUAGES).map(([language, command]) => [
        `job ${job}, ${language}`,
        (where) => run(command(job), where),
      ]),
    ),
  ),
  newman: async ({ url }) =>
    void (await runCollection(tools, { url, key: SCOPEGATE_KEY, document: await readFile('openapi.json', 'utf8') })),
  compression: async ({ url }) => {
    const list = { method: 'GET', headers: { authorization: `Bearer ${SCOPEGATE_KEY}`, 'accept-encoding': 'gzip' } };
    const { status, headers } = await fetch(`${url}/api/v1/orders?limit=50`, list);
    const found = [
      status,
      headers.get('content-encoding'),
      headers.get('vary')?.toLowerCase().includes('accept-encoding'),
    ];
    if (String(found) !== '200,gzip,true') throw new Error(`a list has ${found}`);
  },
};

/** Only through nginx, which removes the path. */
async function belowPath() {
  const page = await fetch(`${PUBLIC_URL}/api/v1/docs`, { headers: { accept: 'text/html' } });
  const [, script] = /<script type="module" src="([^"]+)"/.exec(await page.text());
  const [file, settings, document] = await Promise.all([
    fetch(new URL(script, PUBLIC_URL)),
    fetch(`${PUBLIC_URL}/settings/keys`, { redirect: 'manual' }),
    fetch(`${PUBLIC_URL}/api/v1/openapi.json`).then((answer) => answer.json()),
  ]);
  const list = await fetch(`${PUBLIC_URL}/api/v1/orders?limit=5`, {
    headers: { authorization: `Bearer ${SCOPEGATE_KEY}` },
  });
  await list.text();
  const next = /^<([^>]+)>/.exec(list.headers.get('link'))[1];
  const found = [
    file.status,
    settings.headers.get('location'),
    document.servers[0].url,
    next.startsWith(`${PUBLIC_URL}/api/v1/orders?`),
  ];
  const wanted = [200, `${new URL(PUBLIC_URL).pathname}/settings/sign-in`, `${PUBLIC_URL}/api/v1`, true];
  if (String(found) !== String(wanted)) throw new Error(`found ${found}, not ${wanted}`);
  await api(PUBLIC_URL, next.slice(`${PUBLIC_URL}/api/v1`.length));
  await ends([process.execPath, join(tools, 'programs', 'client.mjs')], { cwd: work, url: PUBLIC_URL });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

const isOpen = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => done(true)).on('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });

const results = {};
let hasFailed = false;
for (const [proxy, { file, text, command }] of Object.entries(PROXIES)) {
  if (chosen.length > 0 && !chosen.includes(proxy)) continue;
  const folder = join(work, proxy);
  await mkdir(folder, { mode: 0o755 });
  const port = proxy === 'nginx' ? Number(NGINX_PORT) : await freePort();
  const written = join(folder, file);
  await writeFile(written, text(port, gateway, folder));
  const running = start(command(written), { cwd: folder });
  try {
    await until(() => isOpen(port), 20_000).catch(() => {
      throw new Error(`${proxy} did not start: ${running.said}`);
    });
    const cases = { ...CASES, ...(proxy === 'nginx' && { 'below a path': belowPath }) };
    for (const [name, run] of Object.entries(cases)) {
      const cwd = join(folder, name.replaceAll(/\W+/g, '-'));
      await mkdir(cwd);
      const began = Date.now();
      const error = await run({ cwd, url: `http://127.0.0.1:${port}` }).then(
        () => undefined,
        (thrown) => thrown,
      );
      (results[name] ??= {})[proxy] = error ? 'FAILED' : `${((Date.now() - began) / 1000).toFixed(1)} s`;
      if (error) console.log(`${name} through ${proxy}: ${error.message.slice(0, 3000)}\n`);
      hasFailed ||= error !== undefined;
    }
  } finally {
    running.child.kill('SIGTERM');
    await running.closed;
  }
}
const names = Object.keys(PROXIES);
const line = (first, cells) => `${first.padEnd(28)}${cells.map((cell) => cell.padStart(9)).join('')}`;
console.log(line('', names));
for (const [name, by] of Object.entries(results))
  console.log(
    line(
      name,
      names.map((proxy) => by[proxy] ?? '–'),
    ),
  );
process.exitCode = hasFailed ? 1 : 0;
