// node .ci/sharded.mjs BINARIES COMMAND…: runs a command with TEST_MONGODB_URI of a sharded cluster of two shards, with one member each.
import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import mongoose from 'mongoose';

const [binaries, ...command] = process.argv.slice(2);
const SETS = [
  ['config', 27100, '--configsvr'],
  ['shard01', 27101, '--shardsvr'],
  ['shard02', 27102, '--shardsvr'],
];
const ROUTER = 27103;

const folder = await mkdtemp(join(tmpdir(), 'scopegate-sharded-'));
const servers = [];

function start(program, ...args) {
  const server = spawn(resolve(binaries, program), ['--bind_ip', '127.0.0.1', ...args], { stdio: 'ignore' });
  server.once('exit', (code) => {
    if (!server.isMeant) console.error(`${program} ${args.join(' ')} exited with ${code}`);
  });
  servers.push(server);
}

/** Runs a command on a server, again until it works. */
async function run(port, what) {
  const uri = `mongodb://127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=2000`;
  for (let left = 60; ; left -= 1) {
    try {
      const client = await mongoose.mongo.MongoClient.connect(uri);
      try {
        return await client.db('admin').command(what);
      } finally {
        await client.close();
      }
    } catch (error) {
      if (left === 0 || error.codeName === 'AlreadyInitialized') throw error;
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
}

let code = 1;
try {
  for (const [name, port, role] of SETS) {
    await mkdir(join(folder, name));
    start('mongod', role, '--replSet', name, '--port', port, '--dbpath', join(folder, name));
    await run(port, {
      replSetInitiate: {
        _id: name,
        ...(name === 'config' && { configsvr: true }),
        members: [{ _id: 0, host: `127.0.0.1:${port}` }],
      },
    });
  }
  start('mongos', '--configdb', `config/127.0.0.1:${SETS[0][1]}`, '--port', ROUTER);
  for (const [name, port] of SETS.slice(1)) await run(ROUTER, { addShard: `${name}/127.0.0.1:${port}`, name });
  const env = { ...process.env, TEST_MONGODB_URI: `mongodb://127.0.0.1:${ROUTER}/` };
  const [program, ...args] = command;
  code = await new Promise((done) =>
    spawn(program, args, { stdio: 'inherit', env }).once('exit', (status) => done(status ?? 1)),
  );
} finally {
  for (const server of servers.reverse()) {
    server.isMeant = true;
    server.kill('SIGKILL');
  }
  await rm(folder, { recursive: true, force: true });
}
process.exitCode = code;
