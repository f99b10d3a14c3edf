import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** Exit code and output of a command. */
export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process that runs the command lines of one test file (see commandProcess.js). */
export interface CommandServer {
  readonly socket: string;
  run(args: readonly string[], environment: Readonly<Record<string, string>>, cwd: string): Promise<Finished>;
  stop(): Promise<void>;
}

export async function startCommandServer(): Promise<CommandServer> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-commands-'));
  const socket = join(folder, 'socket');
  const program = join(__dirname, 'commandProcess.js');
  const child = spawn(process.execPath, [program, socket], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await ready(child);
  return {
    socket,
    async run(args, environment, cwd) {
      const connection = connect(socket);
      connection.end(JSON.stringify({ args, environment, cwd }));
      return JSON.parse(await text(connection)) as Finished;
    },
    async stop() {
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
      await rm(folder, { recursive: true });
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the command server exited with ${String(code)}`);
  });
  await Promise.race([once(child.stdout!, 'data'), ended]);
  // a later exit is intended
  ended.catch(() => undefined);
}
