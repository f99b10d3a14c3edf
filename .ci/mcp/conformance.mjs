// Runs the protocol's conformance suite against the demo: node conformance.mjs SUITE, with SCOPEGATE_URL and SCOPEGATE_KEY.
// The suite sends no key, so it goes through a proxy that adds it. Fails if a check fails that is not expected to, or the other way round.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const [, , suite] = process.argv;
const { SCOPEGATE_URL: url, SCOPEGATE_KEY: key } = process.env;

/**
 * The scenarios that apply, and in them the checks that do not, with the reason. All others are about what this server does not have:
 * resources, prompts, completion, logging, sessions, streams, tasks, skills, and what a server asks of a client (sampling, elicitation, roots); or they
 * call tools of the suite's own example server (tools-call-*, json-schema-2020-12, input-required-result-*, http-custom-header-*).
 */
const SCENARIOS = {
  'server-initialize': { in: ['2025-11-25'] },
  ping: { in: ['2025-11-25'] },
  'tools-list': { in: ['2025-11-25', '2026-07-28'] },
  'dns-rebinding-protection': { in: ['2025-11-25', '2026-07-28'] },
  'http-header-validation': { in: ['2026-07-28'] },
  'input-required-result-unsupported-methods': { in: ['2026-07-28'] },
  'input-required-result-ignore-extra-params': { in: ['2026-07-28'] },
  'server-stateless': {
    in: ['2026-07-28'],
    not: {
      'sep-2575-server-rejects-undeclared-capability': 'no tool needs a capability of the client',
      'sep-2575-missing-capability-http-400': 'no tool needs a capability of the client',
      'sep-2575-http-server-no-independent-requests-on-stream': 'there are no streams',
      'sep-2575-server-no-log-without-loglevel': 'there are no log messages',
    },
  },
  caching: {
    in: ['2026-07-28'],
    not: {
      'sep-2549-prompts-list-caching-hints': 'there are no prompts',
      'sep-2549-resources-list-caching-hints': 'there are no resources',
      'sep-2549-resources-templates-list-caching-hints': 'there are no resources',
    },
  },
};

const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${key}` };
  const onward = http.request(new URL(request.url, url), { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
});
await once(proxy.listen(0, '127.0.0.1'), 'listening');
const target = `http://127.0.0.1:${proxy.address().port}/mcp`;

let [passed, wrong] = [0, 0];
for (const [scenario, { in: versions, not = {} }] of Object.entries(SCENARIOS)) {
  for (const version of versions) {
    const checks = await run(scenario, version);
    const failed = new Set(checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id));
    const problems = [
      ...[...failed].filter((id) => !(id in not)).map((id) => `${id} failed`),
      ...Object.keys(not)
        .filter((id) => !failed.has(id))
        .map((id) => `${id} was expected to fail`),
      ...(checks.some(({ status }) => status === 'SUCCESS') ? [] : ['nothing was checked']),
    ];
    passed += checks.filter(({ status }) => status === 'SUCCESS').length;
    wrong += problems.length;
    console.log(`${scenario} (${version}): ${problems.length === 0 ? 'ok' : problems.join('; ')}`);
  }
}
proxy.close();
console.log(`${passed} checks passed, ${wrong} problems`);
process.exitCode = wrong === 0 ? 0 : 1;

async function run(scenario, version) {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-conformance-'));
  try {
    const args = ['server', '--url', target, '--scenario', scenario, '--spec-version', version, '-o', folder];
    const child = spawn(process.execPath, [suite, ...args], { stdio: 'ignore', timeout: 60_000 });
    await once(child, 'close');
    const files = await readdir(folder, { recursive: true });
    const [report] = files.filter((file) => file.endsWith('checks.json'));
    return report === undefined ? [] : JSON.parse(await readFile(join(folder, report), 'utf8'));
  } finally {
    await rm(folder, { recursive: true });
  }
}
