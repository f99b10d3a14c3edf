import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { findProgram } from './programs';

export const REDIS = findProgram('redis-server');
export const INSTALL_REDIS = 'apt-get install redis-server';

/** A separate, real Redis; redis-server must be on the PATH (Debian: apt-get install redis-server). */
export interface TestRedis {
  readonly url: string;
  /** Stops responding without closing connections, until `resume`. */
  pause(): void;
  resume(): void;
  kill(): Promise<void>;
  /** Restarts it, empty, on the same port. */
  restart(): Promise<void>;
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${String(port)}`;
  let child = await launch(port, url);
  return {
    url,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    restart: async () => {
      child = await launch(port, url);
    },
  };
}

async function launch(port: number, url: string): Promise<ChildProcess> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'],
    {
      stdio: 'ignore',
    },
  );
  await Promise.race([once(child, 'error').then(([error]) => Promise.reject(error as Error)), answers(url)]);
  return child;
}

/** Resolves when the server answers a ping. */
async function answers(url: string): Promise<void> {
  const redis = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => undefined);
  await redis.ping();
  redis.disconnect();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
