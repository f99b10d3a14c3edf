import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { databaseName } from '../../src/mongo/databaseNames';
import { eventually } from '../api/http/eventually';
import { commandLine, followed, makeKey, makeOrganisation } from '../cli/commandLine';
import { AS_PDF, PDF } from '../support/attachments';
import { client } from '../support/client';
import { driver } from '../support/gateway';
import { head, openWire } from './wire';

/* A gateway is killed while files are uploaded (docs/decisions/attachments.md). */

const cli = commandLine();
const bare = driver();
const SERVE = { PORT: '0', EVENTS: 'off', LOG_LEVEL: 'warn' };

async function serving(environment: Record<string, string> = {}) {
  const command = followed(cli, ['serve'], { ...SERVE, ...environment });
  const [line = ''] = await command.until(1);
  return { ...command, url: line.replace('listening on ', '') };
}

test('a gateway that is killed while it stores a file, and receives another, leaves nothing; the same upload again is stored once', async () => {
  const { id: org } = await makeOrganisation(cli);
  const { key } = await makeKey(cli, org);
  const stored = bare.db(databaseName(org));
  const victim: { child?: ChildProcess } = {};
  let session: unknown;
  await using proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI ?? '', {
    onReply: (reply, command) => {
      if (command?.insert !== 'attachments.chunks') return reply;
      session = command.lsid;
      victim.child?.kill('SIGKILL');
      return undefined;
    },
  });
  const first = await serving({ MONGODB_URI: proxy.uri });
  victim.child = first.child;
  const before = (await client(first, key).post('/requests', { text: 'Hello' })).body;
  const path = `/requests/${String(before.id)}/attachments`;
  const headers = { ...AS_PDF, 'idempotency-key': randomUUID() };
  // half a body, which is in memory alone
  const half = await openWire(first.url);
  const lines = Object.entries({ ...headers, 'idempotency-key': 'other', authorization: `Bearer ${key}` });
  const declared = ['content-length', String(PDF.length)] as const;
  half.send(
    `${head(`POST /api/v1${path}`, ...[...lines, declared].map(([name, value]) => `${name}: ${value}`))}\r\n%PDF-1.7`,
  );
  await expect(client(first, key).send('POST', path, { body: PDF as unknown as BodyInit, headers })).rejects.toThrow();
  await first.ended;
  const second = await serving();
  const caller = client(second, key);
  const after = (await caller.get(`/requests/${String(before.id)}`)).body;
  expect(after).toEqual(before);
  for (const name of ['attachments.files', 'attachments.chunks'])
    expect(await stored.collection(name).countDocuments()).toBe(0);
  // as the database does by itself after transactionLifetimeLimitSeconds
  await bare.db('admin').command({ killSessions: [session] });
  const answer = await eventually(async () => {
    const again = await caller.send('POST', path, { body: PDF as unknown as BodyInit, headers });
    return again.status === 201 ? again : undefined;
  });
  expect((await caller.get(`/requests/${String(before.id)}`)).body.attachments).toEqual([answer.body]);
  expect(await stored.collection('attachments.chunks').countDocuments()).toBe(3);
  second.child.kill('SIGTERM');
  await second.ended;
});
