import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { secretText } from '../../../src/auth/webhookSecrets';
import { copied, installPython, installTypescript } from '../clients/packages';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import { launch, ROOT, run } from './run';

/* The example receivers, installed and started as in their READMEs. */

/** The copy of a receiver: objects by type and id. Undefined until there is one. */
export type Copy = Readonly<Record<string, Readonly<Record<string, Json>>>>;

interface Example {
  readonly name: string;
  /** Installs it into a folder and returns the folder, the program and its arguments. */
  install(): Promise<{ readonly folder: string; readonly command: string; readonly args: readonly string[] }>;
  readonly copyFile: string;
  read(file: string): Promise<Copy | undefined>;
  /** A Python program that opens the copy passed as its argument, says so, and keeps it open. */
  readonly hold: string;
}

/** Prints the tables as one JSON value; nothing if there is no complete copy. */
const DUMP = `
import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1], timeout=10)
if db.execute("select name from sqlite_master where name = 'feed'").fetchone() and db.execute("select * from feed").fetchone():
    copy = {}
    for type, id, body in db.execute("select * from objects"): copy.setdefault(type, {})[id] = json.loads(body)
    print(json.dumps(copy))
`;

export const RECEIVERS: readonly Example[] = [
  {
    name: 'typescript',
    async install() {
      const folder = await copied('examples', 'receivers', 'typescript');
      await installTypescript(folder);
      const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name);
      await run(bin('tsc'), ['--project', folder]);
      // as tsx would, but in one process, so that a signal ends it
      return { folder, command: process.execPath, args: ['--import', 'tsx', 'receiver.ts'] };
    },
    copyFile: 'copy.json',
    async read(file) {
      const text = await readFile(file, 'utf8').catch(() => undefined);
      return text === undefined ? undefined : (JSON.parse(text) as { objects: Copy }).objects;
    },
    hold: 'import sys; file = open(sys.argv[1]); file.read(1); print("reading", flush=True); input()',
  },
  {
    name: 'python',
    async install() {
      const folder = await copied('examples', 'receivers', 'python');
      return { folder, command: await installPython(folder), args: ['receiver.py'] };
    },
    copyFile: 'copy.sqlite',
    async read(file) {
      const text = await run('python3', ['-c', DUMP, file]);
      return text === '' ? undefined : (JSON.parse(text) as Copy);
    },
    hold: `
import sqlite3, sys
rows = sqlite3.connect(sys.argv[1]).execute("select * from objects")
rows.fetchone()
print("reading", flush=True)
input()
`,
  },
];

export const SECRET = secretText(randomBytes(24));
export const PATIENCE = 60_000;

export interface Receiver {
  readonly url: string;
  /** What it has printed so far, to both streams. */
  readonly said: () => string;
  /** Whether it has ended by itself. */
  readonly hasEnded: () => boolean;
  kill(): Promise<void>;
}

export const portOf = ({ url }: Receiver): number => Number(new URL(url).port);

/** Installs an example for a test file or describe, gives each run a new copy, and ends what was started. */
export function receiving(example: Example) {
  let installed: Awaited<ReturnType<typeof example.install>>;
  let started: { kill(): Promise<void> }[] = [];
  let copyFile: string;

  beforeAll(async () => {
    installed = await example.install();
  });
  afterAll(() => rm(installed.folder, { recursive: true, force: true }));
  beforeEach(() => {
    copyFile = join(installed.folder, `${randomUUID()}-${example.copyFile}`);
  });
  afterEach(async () => {
    for (const one of started) await one.kill();
    started = [];
  });

  /** Starts it with only these variables. */
  function begin(variables: Readonly<Record<string, string>>) {
    const env = { PYTHONDONTWRITEBYTECODE: '1', COPY_FILE: copyFile, ...variables };
    const receiver = launch(installed.command, installed.args, { cwd: installed.folder, env });
    started.push(receiver);
    return receiver;
  }

  return {
    copyFile: () => copyFile,
    /** Starts one that is expected to exit, and resolves with its exit code and output. */
    ended: async (variables: Readonly<Record<string, string>>): Promise<{ code: number | null; said: string }> => {
      const { closed, said } = begin(variables);
      return { code: await closed, said: said() };
    },
    start: async (url: string, key: string, port = 0): Promise<Receiver> => {
      const scopegate = { SCOPEGATE_URL: url, SCOPEGATE_KEY: key, SCOPEGATE_WEBHOOK_SECRET: SECRET };
      const { kill, said, hasEnded } = begin({ ...scopegate, PORT: String(port), CATCH_UP_SECONDS: '3600' });
      const match = await eventually(() => {
        if (hasEnded()) throw new Error(`it ended: ${said()}`);
        return /listening on \D*127\.0\.0\.1\D+(\d{4,5})|"port":(\d+)/.exec(said());
      }, PATIENCE);
      return { url: `http://127.0.0.1:${match[1] ?? match[2] ?? ''}/webhooks`, said, hasEnded, kill };
    },
  };
}
