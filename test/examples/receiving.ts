import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { secretText } from '../../src/webhooks/signing';
import { eventually } from '../http/eventually';
import { type Example, remove } from './receivers';

/* Example receivers that run. */

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
  }, 240_000);
  afterAll(() => remove(installed.folder));
  beforeEach(() => {
    copyFile = join(installed.folder, `${randomUUID()}-${example.copyFile}`);
  });
  afterEach(async () => {
    for (const one of started) await one.kill();
    started = [];
  });

  /** Starts it with only these variables. */
  function launch(variables: Readonly<Record<string, string>>) {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(installed.command, installed.args, {
      cwd: installed.folder,
      env: { PATH, HOME, PYTHONDONTWRITEBYTECODE: '1', COPY_FILE: copyFile, ...variables },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
    const kill = async (): Promise<void> => {
      child.kill('SIGKILL');
      await closed;
    };
    started.push({ kill });
    return { closed, kill, said: () => text, hasEnded: () => child.exitCode !== null };
  }

  return {
    copyFile: () => copyFile,
    /** Starts one that is expected to exit, and resolves with its exit code and output. */
    ended: async (variables: Readonly<Record<string, string>>): Promise<{ code: number | null; said: string }> => {
      const { closed, said } = launch(variables);
      return { code: await closed, said: said() };
    },
    start: async (url: string, key: string, port = 0): Promise<Receiver> => {
      const scopegate = { SCOPEGATE_URL: url, SCOPEGATE_KEY: key, SCOPEGATE_WEBHOOK_SECRET: SECRET };
      const { kill, said, hasEnded } = launch({ ...scopegate, PORT: String(port), CATCH_UP_SECONDS: '3600' });
      const found = await eventually(() => {
        if (hasEnded()) throw new Error(`it ended: ${said()}`);
        return /listening on \D*127\.0\.0\.1\D+(\d{4,5})|"port":(\d+)/.exec(said());
      }, PATIENCE);
      return { url: `http://127.0.0.1:${found[1] ?? found[2] ?? ''}/webhooks`, said, hasEnded, kill };
    },
  };
}
