import { eventually } from '../http/eventually';
import { startGateway } from '../support/gateway';
import { commandLine } from './commandLine';

/* A cluster has room for as many organisations as its files allow; that a move finds one full: moveRefused. */

const make = ['org', 'create', '--name', 'Acme', '--json'] as const;

test('new organisations go to the cluster with the most room, and are refused once every cluster is full', async () => {
  // room for two organisations on one cluster, and three on the other, beside a twelfth for growth
  const environment = { MONGODB_CLUSTERS: `eu=${process.env.TEST_MONGODB_URI!}`, CLUSTER_FILES: '48 eu=72' };
  const cli = commandLine(environment);
  await using gateway = await startGateway({ ...environment, CONTROL_DATABASE: cli.controlDatabase });
  const placed: string[] = [];
  for (let made = 0; made < 5; made += 1) placed.push((await cli.json<{ cluster: string }>(...make)).cluster);
  expect(placed).toEqual(['eu', 'default', 'eu', 'default', 'eu']);
  const refused = await cli.failed(1, ...make);
  expect(refused).toContain('cluster default is full: 44 of its 48 files are reserved for 2 organisations');
  expect(refused).toContain('cluster eu is full: 66 of its 72 files are reserved for 3 organisations');
  expect(refused).toContain('add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES');
  expect(await cli.json<unknown[]>('org', 'list')).toHaveLength(5);

  const { stdout } = await cli.run('doctor');
  expect(stdout).toContain('warn    files on cluster default: 44 of 48 reserved for 2 organisations, which have 0');
  expect(stdout).toContain('warn    files on cluster eu: 66 of 72 reserved for 3 organisations, which have 0');
  const sample = async (cluster: string, state: string): Promise<string | undefined> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const line = new RegExp(`^scopegate_cluster_files\\{cluster="${cluster}",state="${state}"\\} (.*)$`, 'm');
    return line.exec(text)?.[1];
  };
  expect(await eventually(() => sample('eu', 'reserved'))).toBe('66');
  expect(await sample('default', 'capacity')).toBe('48');
});
