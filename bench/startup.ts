import { join } from 'node:path';
import { freePort, residentMiB, runToEnd, startProcess } from '../faults/processes';
import { ROOT } from '../tools/facts';
import type { Content, Rig } from './rig';
import { type Spread, spreadOf } from './statistics';

/* Startup times of the commands and the server, with the database running. */

const PROGRAM = join(ROOT, 'dist', 'main.js');

export interface Startup {
  readonly title: string;
  readonly value: Spread;
  readonly unit: 's' | 'MiB';
}

export async function measureStartup(rig: Rig, { organisation }: Content, rounds: number): Promise<Startup[]> {
  const [serve, help, create, memory] = [[], [], [], []] as [number[], number[], number[], number[]];
  for (let round = 0; round < rounds; round += 1) {
    help.push(await seconds(() => runToEnd(process.execPath, [PROGRAM, '--help'], rig.environment)));
    const command = ['key', 'create', '--org', organisation.id, '--name', 'bench', '--scopes', 'all', '--json'];
    // the organisation has thousands
    const environment = { ...rig.environment, MAX_KEYS: '100000' };
    create.push(await seconds(() => runToEnd(process.execPath, [PROGRAM, ...command], environment)));
    const PORT = String(await freePort());
    const started = performance.now();
    const server = await startProcess(process.execPath, [PROGRAM, 'serve'], {
      env: { ...rig.environment, PORT },
      logFile: join(rig.place, 'startup.log'),
      readyWhen: /^listening on /,
    });
    serve.push((performance.now() - started) / 1000);
    memory.push((await residentMiB(server.pid)) ?? NaN);
    await server.stop();
  }
  return [
    { title: '`serve` until it is listening', value: spreadOf(serve), unit: 's' },
    { title: '`scopegate --help`', value: spreadOf(help), unit: 's' },
    { title: '`key create`', value: spreadOf(create), unit: 's' },
    { title: 'Resident memory after start', value: spreadOf(memory), unit: 'MiB' },
  ];
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}
