import os from 'node:os';
import { eventually } from '../api/http/eventually';
import { createProbe, publicCause } from '../../src/mongo/probe';

/** As in src: a first try that took longer counts as one of a busy machine, in milliseconds. */
const BUSY_AFTER = 3000;

const probes: ReturnType<typeof createProbe>[] = [];
afterAll(() => Promise.all(probes.map((probe) => probe.close())));

function responds(question: Parameters<typeof createProbe>[1]): Promise<boolean> {
  const probe = createProbe(process.env.TEST_MONGODB_URI!, question);
  probes.push(probe);
  return probe.responds();
}

test('a server that answers the query is up', async () => {
  // connecting may take longer than the first answer is waited for
  await eventually(() => responds((client) => client.db('probe').collection('nothing').findOne({})));
});

describe('a server that answers too late the first time', () => {
  afterEach(() => jest.restoreAllMocks());

  test.each([
    ['is up if the machine was busy', 'user', true],
    ['is not up if the machine was idle', 'idle', false],
  ] as const)('%s', async (_what, kind, isUp) => {
    const times = { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 };
    jest.spyOn(os, 'cpus').mockImplementation(() => {
      times[kind] += 1000;
      return [{ model: '', speed: 0, times: { ...times } }];
    });
    const found = await eventually(async () => {
      let asked = 0;
      const began = performance.now();
      const isFound = await responds(() => ((asked += 1) === 1 ? new Promise(() => undefined) : Promise.resolve()));
      // a process that is so late counts as busy, whatever the machine does
      return isUp || performance.now() - began < BUSY_AFTER ? { isUp: isFound } : undefined;
    });
    expect(found).toEqual({ isUp });
  });
});

test('why a server cannot be reached is known also once connecting to it has failed', async () => {
  const probe = createProbe('mongodb://127.0.0.1:1/?directConnection=true', () => Promise.resolve());
  probes.push(probe);
  // connecting takes longer than the first answer is waited for
  expect([await probe.responds(), await probe.responds()]).toEqual([false, false]);
  expect(probe.failure().message).toContain('ECONNREFUSED');
});

test('a server that accepts connections but rejects the query is not up', async () => {
  await eventually(async () => {
    expect(await responds((client) => client.db('probe').command({ no_such_command: 1 }))).toBe(false);
    return publicCause(probes.at(-1)!.failure()) === 'refused (CommandNotFound)';
  });
});
