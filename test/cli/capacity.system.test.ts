import { eventually } from '../http/eventually';
import { startGateway } from '../support/gateway';
import { commandLine } from './commandLine';

/* A cluster has room for as many organisations as its files allow, if each used everything. */

interface Diagnosis {
  readonly checks: readonly { name: string; ok: boolean; detail: string; fix?: string }[];
}

const URI = process.env.TEST_MONGODB_URI!;
const SECOND = `eu=${URI}`;
const make = ['org', 'create', '--name', 'Acme'] as const;

/** Room for two organisations on one cluster, and three on the other, whatever one takes. */
async function clusters(): Promise<{ environment: Record<string, string>; each: number }> {
  const gateway = await startGateway();
  const each = gateway.databases.filesOfOrganisation;
  await gateway.stop();
  const environment = {
    MONGODB_CLUSTERS: SECOND,
    CLUSTER_FILES: `${String(2 * each + 1)} eu=${String(3 * each)}`,
  };
  return { environment, each };
}

test('new organisations go to the cluster with the most room, and are refused once every cluster is full', async () => {
  const { environment, each } = await clusters();
  const cli = commandLine(environment);
  const placed: string[] = [];
  const gateway = await startGateway({ ...environment, CONTROL_DATABASE: cli.controlDatabase });
  try {
    for (let made = 0; made < 5; made += 1) {
      const { id } = await cli.json<{ id: string }>(...make);
      placed.push((await gateway.control.organisations.find(id))!.cluster);
    }
    expect(placed).toEqual(['eu', 'default', 'eu', 'default', 'eu']);
    const refused = await cli.run(...make, '--json');
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('cluster default is full: 2 organisations of up to');
    expect(refused.stderr).toContain('cluster eu is full: 3 organisations of up to');
    expect(refused.stderr).toContain('add a cluster to MONGODB_CLUSTERS, or raise CLUSTER_FILES');
    expect(await cli.json<unknown[]>('org', 'list')).toHaveLength(5);

    const { checks } = await cli.json<Diagnosis>('doctor');
    const files = checks.filter(({ name }) => name.startsWith('files'));
    expect(files.map(({ name, ok, detail }) => ({ name, ok, detail }))).toEqual([
      {
        name: 'files on cluster default',
        ok: true,
        detail: `${String(2 * each)} of ${String(2 * each + 1)} reserved for 2 organisations, which have 0`,
      },
      {
        name: 'files on cluster eu',
        ok: true,
        detail: `${String(3 * each)} of ${String(3 * each)} reserved for 3 organisations, which have 0`,
      },
    ]);
    const sample = (cluster: string, state: string): Promise<string | undefined> =>
      fetch(`${gateway.url}/metrics`)
        .then((answer) => answer.text())
        .then(
          (text) =>
            new RegExp(`^scopegate_cluster_files\\{cluster="${cluster}",state="${state}"\\} (.*)$`, 'm').exec(
              text,
            )?.[1],
        );
    expect(await eventually(() => sample('eu', 'reserved'))).toBe(String(3 * each));
    expect(await sample('default', 'capacity')).toBe(String(2 * each + 1));
  } finally {
    await gateway.stop();
  }
});

test('a full cluster that is named is refused, even if another has room', async () => {
  const { environment } = await clusters();
  const cli = commandLine(environment);
  await cli.json(...make, '--cluster', 'default');
  await cli.json(...make, '--cluster', 'default');
  const { code, stderr } = await cli.run(...make, '--cluster', 'default');
  expect(code).toBe(1);
  expect(stderr).toContain('cluster default is full');
  expect(stderr).not.toContain('cluster eu');
});
