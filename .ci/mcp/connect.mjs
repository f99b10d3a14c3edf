// Connects programs to the demo by OAuth, from its address alone: node connect.mjs SUITE REMOTE, with SCOPEGATE_URL: the protocol's conformance suite
// for authorization servers, and mcp-remote, which calls a tool. This is the browser that they open, in which the demo's admin allows them.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const [, , suite, remote] = process.argv;
const { SCOPEGATE_URL: url } = process.env;
const AT_MOST = 60_000;
const PORT = 3111;

const signedIn = await fetch(`${url}/settings/sign-in/demo`, {
  ...{ method: 'POST', redirect: 'manual', headers: { origin: url } },
});
const cookie = signedIn.headers
  .getSetCookie()
  .map((text) => text.split(';')[0])
  .join('; ');

/** Allows what is asked at an address, and takes the answer to the program. */
async function allow(address) {
  const page = await (await fetch(address, { headers: { cookie } })).text();
  const form = new URLSearchParams({ decision: 'allow', mode: 'live', lifetime: '30' });
  form.set('csrf', /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '');
  for (const [, scope] of page.matchAll(/name="scope"\s+value="([^"]+:read)"/g)) form.append('scope', scope);
  const sent = { method: 'POST', redirect: 'manual', headers: { cookie, origin: url }, body: form };
  const { status, headers } = await fetch(address, sent);
  if (status !== 303) throw new Error(`the consent was answered with ${status}`);
  // the program may not listen yet
  for (let attempt = 0; ; attempt += 1) {
    try {
      await fetch(headers.get('location'));
      return;
    } catch (error) {
      if (attempt === 50) throw error;
      await pause(100);
    }
  }
}

/** Starts a program, and allows it once it says where. `isDone` is called with what it has written so far. */
async function connect(name, [script, ...args], { env, input, isDone }) {
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env } });
  let said = '';
  let isAsked = false;
  try {
    await new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('it takes too long')), AT_MOST).unref();
      const note = (bytes) => {
        said += bytes;
        const [address] = new RegExp(`${url}/settings/authorize\\?[^\\s"']+(?=\\s)`).exec(said) ?? [];
        if (address && !isAsked) {
          isAsked = true;
          allow(address).catch(reject);
        }
        if (isDone(said)) resolve();
      };
      child.stdout.on('data', note);
      child.stderr.on('data', note);
      child.on('exit', (code) => (isDone(said) ? resolve() : reject(new Error(`it ended with ${code}`))));
      if (input) child.stdin.write(input);
    });
    console.log(`${name} connects by OAuth`);
  } catch (error) {
    console.log(`${name}: ${error.message}; it said:\n${said.slice(-3000)}`);
    process.exitCode = 1;
  } finally {
    child.kill();
  }
}

const registered = await fetch(`${url}/oauth/register`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ redirect_uris: [`http://127.0.0.1:${PORT}/callback`], token_endpoint_auth_method: 'none' }),
});
const { client_id: id } = await registered.json();
const options = ['--url', url, '--client-id', id, '--resource', `${url}/mcp`, '--port', String(PORT)];
await connect('the conformance suite', [suite, 'authorization', ...options], {
  isDone: (said) => /Total: [1-9]\d* passed, 0 failed/.test(said),
});

const folder = await mkdtemp(join(tmpdir(), 'mcp-remote-'));
const message = (more) => `${JSON.stringify({ jsonrpc: '2.0', ...more })}\n`;
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'check', version: '1' } };
await connect('mcp-remote', [remote, `${url}/mcp`], {
  env: { MCP_REMOTE_CONFIG_DIR: folder },
  input:
    message({ id: 1, method: 'initialize', params }) +
    message({ method: 'notifications/initialized' }) +
    message({ id: 2, method: 'tools/call', params: { name: 'customers', arguments: { q: 'alfreds' } } }),
  isDone: (said) => said.includes('Alfreds Futterkiste'),
});
await rm(folder, { recursive: true, force: true });
