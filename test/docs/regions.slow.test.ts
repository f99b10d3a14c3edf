import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from '../../faults/cleanup';
import { freePort, startProcess } from '../../faults/processes';
import { raw } from '../api/http/raw';
import { eventually } from '../api/http/eventually';
import { describeWith, findProgram } from '../support/programs';
import { blocksOf } from './markdown';

/* The guide's configuration of nginx for two regions. */

afterAll(cleanUp);

/** A server that answers with the name of its region. */
async function startRegion(name: string): Promise<{ port: number; close: () => void }> {
  const server = createServer((_request, response) => response.end(name)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describeWith(findProgram('nginx'), 'apt-get install nginx')('nginx before two regions', () => {
  test('sends each key to its region, over all APIs, and serves nothing else', async () => {
    const [eu, us, port] = [await startRegion('eu'), await startRegion('us'), await freePort()];
    const { text } = blocksOf('docs/guides/sharding.md').find(({ language }) => language === 'nginx')!;
    const sites = text
      .replace('eu.internal:4000', `127.0.0.1:${String(eu.port)}`)
      .replace('us.internal:4000', `127.0.0.1:${String(us.port)}`)
      .replace('listen 443 ssl', `listen 127.0.0.1:${String(port)}`);
    const folder = await mkdtemp(join(tmpdir(), 'scopegate-regions-'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (kind) => `${kind}_temp_path ${folder}/${kind};`,
    );
    const configuration = join(folder, 'nginx.conf');
    await writeFile(
      configuration,
      `daemon off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')}\n${sites} }`,
    );
    const nginx = await startProcess('nginx', ['-e', join(folder, 'errors'), '-c', configuration], {
      env: process.env,
      logFile: join(folder, 'log'),
    });
    const url = `http://127.0.0.1:${String(port)}`;
    const answer = async (path: string, headers: Record<string, string> = {}) =>
      (await raw(url, path, { headers })).text;
    await eventually(() => answer('/mcp').catch(() => undefined));
    for (const path of ['/api/v1/products?limit=1', '/graphql?query=x', '/mcp']) {
      for (const [authorization, region] of [
        ['Bearer eu_live_0LKx', 'eu'],
        ['Bearer eu_app_0LKx', 'eu'],
        ['bearer  eu_test_0LKx', 'eu'],
        ['Bearer us_live_eu_', 'us'],
      ] as const)
        expect([path, authorization, await answer(path, { authorization })]).toEqual([path, authorization, region]);
    }
    for (const path of ['/operator/v1/organisations', '/settings', '/oauth/token'])
      expect(await answer(path, { authorization: 'Bearer eu_live_0LKx' })).not.toMatch(/^(eu|us)$/);
    await nginx.stop();
    eu.close();
    us.close();
  });
});
