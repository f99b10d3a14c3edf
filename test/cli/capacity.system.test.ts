import { eventually } from '../http/eventually';
import { startGateway } from '../support/gateway';
import { commandLine } from './commandLine';

/* A cluster has room for as many organisations as its files allow, if each used everything; that one is full: moveRefused. */

const make = ['org', 'create', '--name', 'Acme', '--json'] as const;

test('new organisations go to the cluster with the most room, and are refused once every cluster is full', async () => {
  const any = await startGateway();
  const each = any.databases.filesOfOrganisation;
  await any.stop();
  // room for two organisations on one cluster, and three on the other, whatever one takes
  const environment = {
    MONGODB_CLUSTERS: `eu=${process.env.TEST_MONGODB_URI!}`,
    CLUSTER_FILES: `${String(2 * each + 1)} eu=${String(3 * each)}`,
  };
  const cli = commandLine(environment);
  await using gateway = await startGateway({ ...environment, CONTROL_DATABASE: cli.controlDatabase });
  const placed: string[] = [];
  for (let made = 0; made < 5; made += 1) placed.push((await cli.json<{ cluster: string }>(...make)).cluster);
  expect(placed).toEqual(['eu', 'default', 'eu', 'default', 'eu']);
  const refused = await cli.failed(1, ...make);
  expect(refused).toContain('cluster default is full: 2 organisations of up to');
  expect(refused).toContain('cluster eu is full: 3 organisations of up to');
  expect(refused).toContain('add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES');
  expect(await cli.json<unknown[]>('org', 'list')).toHaveLength(5);

  const { stdout } = await cli.run('doctor');
  const files = (count: number, of: number) => `: ${String(count * each)} of ${String(of)} reserved for`;
  expect(stdout).toContain(`ok      files on cluster default${files(2, 2 * each + 1)} 2 organisations, which have 0`);
  expect(stdout).toContain(`ok      files on cluster eu${files(3, 3 * each)} 3 organisations, which have 0`);
  const sample = async (cluster: string, state: string): Promise<string | undefined> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const line = new RegExp(`^scopegate_cluster_files\\{cluster="${cluster}",state="${state}"\\} (.*)$`, 'm');
    return line.exec(text)?.[1];
  };
  expect(await eventually(() => sample('eu', 'reserved'))).toBe(String(3 * each));
  expect(await sample('default', 'capacity')).toBe(String(2 * each + 1));
});
