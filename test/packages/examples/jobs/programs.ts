import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copied, installTypescript, packageIndex } from '../../clients/packages';
import type { Json } from '../../../support/client';
import { launch, ROOT, run } from '../run';

/* The programs of the guide's jobs, and a road to the gateway on which they meet what the test wants. */

export interface Installed {
  readonly folder: string;
  /** The command that runs a program, with its first arguments. */
  command(job: string): string[];
}

/** The first run of a program is as its page says, by tsx; the others are of what the compiler made of it, which starts sooner. */
export async function typescript(): Promise<Installed> {
  const folder = await copied('examples', 'jobs', 'typescript');
  await installTypescript(folder);
  await run(join(ROOT, 'node_modules', '.bin', 'tsc'), ['--project', folder, '--noEmit', 'false']);
  const loader = join(ROOT, 'node_modules', 'tsx', 'dist', 'loader.mjs');
  const begun = new Set<string>();
  const command = (job: string): string[] => {
    if (begun.has(job)) return [process.execPath, join(folder, `${job}.js`)];
    begun.add(job);
    return [process.execPath, '--import', loader, join(folder, `${job}.ts`)];
  };
  return { folder, command };
}

export async function python(): Promise<Installed> {
  const folder = await copied('examples', 'jobs', 'python');
  const venv = join(folder, '.venv');
  await run('python3', ['-m', 'venv', venv]);
  const install = ['install', '--quiet', '--disable-pip-version-check', join(ROOT, 'clients', 'python')];
  await run(join(venv, 'bin', 'pip'), install, { env: packageIndex() });
  return { folder, command: (job) => [join(venv, 'bin', 'python'), join(folder, `${job}.py`)] };
}

type Meeting = 'before' | 'after';
/** What happens to a request; one that ends its response is not passed on. */
type Work = (response: ServerResponse) => unknown;

/** Installs the programs of a language for a describe. Each test has an empty folder to run them in. */
export function working(install: () => Promise<Installed>, gateway: { readonly url: string }) {
  let installed: Installed;
  const started: { kill(): Promise<void> }[] = [];
  let folder: string;
  let road: Awaited<ReturnType<typeof roadTo>>;
  beforeAll(async () => {
    installed = await install();
  });
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scopegate-job-'));
    road = await roadTo(gateway.url);
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.kill();
    road.close();
    await rm(folder, { recursive: true });
  });
  afterAll(() => rm(installed.folder, { recursive: true }));

  function start(key: string, job: string, ...args: string[]) {
    const [command = '', ...first] = installed.command(job);
    const env = { SCOPEGATE_URL: road.url, SCOPEGATE_KEY: key };
    const program = launch(command, [...first, ...args], { cwd: folder, env });
    started.push(program);
    return program;
  }

  return {
    start,
    /** Runs a program to its end. */
    async ended(key: string, job: string, ...args: string[]) {
      const program = start(key, job, ...args);
      return { code: await program.closed, said: program.said() };
    },
    /** Starts one and kills it when it waits for the answer to a request: one that the gateway has handled, or has not seen. */
    async killed(when: Meeting, pattern: RegExp, key: string, job: string, ...args: string[]): Promise<void> {
      const met = new Promise<void>((resolve) => {
        road.meet(when, pattern, () => {
          resolve();
          return new Promise(() => undefined);
        });
      });
      const program = start(key, job, ...args);
      const early = program.closed.then(() => Promise.reject(new Error(`it ended: ${program.said()}`)));
      await Promise.race([met, early]);
      early.catch(() => undefined);
      await program.kill();
    },
    file: (name: string): string => join(folder, name),
    /** Does something when the first request that matches is to be passed on, or its answer. */
    meet: (when: Meeting, pattern: RegExp, work: Work): void => road.meet(when, pattern, work),
    seen: (pattern: RegExp): string[] => road.seen.filter((line) => pattern.test(line)),
    /** The objects that a program keeps in a folder, by id. */
    async copy(name: string): Promise<Record<string, Json>> {
      const files = (await readdir(join(folder, name)).catch(() => [])).filter((file) => file.endsWith('.json'));
      // one that is deleted meanwhile is none
      const texts = await Promise.all(files.map((file) => readFile(join(folder, name, file), 'utf8').catch(() => '')));
      return byId(texts.filter(Boolean).map((text) => JSON.parse(text) as Json));
    },
  };
}

export const byId = (rows: readonly Json[]): Record<string, Json> =>
  Object.fromEntries(rows.map((row) => [row.id, row]));

/** A proxy to the gateway. A request is seen as `METHOD path?query`, and ends with ` stream` if it opens one. */
export async function roadTo(url: string) {
  const seen: string[] = [];
  const meetings: { when: Meeting; pattern: RegExp; work: Work }[] = [];

  /** Whether the request goes on. */
  async function met(when: Meeting, line: string, response: ServerResponse): Promise<boolean> {
    const at = meetings.findIndex((meeting) => meeting.when === when && meeting.pattern.test(line));
    if (at !== -1) await meetings.splice(at, 1)[0]!.work(response);
    return !response.writableEnded && !response.destroyed;
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url: path = '/', headers } = request;
    const line = `${method} ${path}${headers.accept === 'text/event-stream' ? ' stream' : ''}`;
    seen.push(line);
    if (!(await met('before', line, response))) return;
    const passed = send(url + path, { method, headers });
    response.on('close', () => passed.destroy());
    passed.on('error', () => response.destroy());
    passed.on('response', (answer) => {
      void met('after', line, response).then((goesOn) => {
        if (!goesOn) return;
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
    });
    request.pipe(passed);
  }

  const server = createServer((request, response) => void pass(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    meet(when: Meeting, pattern: RegExp, work: Work): void {
      meetings.push({ when, pattern, work });
    },
    /** How many of them are still to come. */
    left: () => meetings.length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
