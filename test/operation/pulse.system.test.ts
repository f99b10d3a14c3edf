import os from 'node:os';
import { pulseOf } from '../../src/database/pulse';

const pulses: ReturnType<typeof pulseOf>[] = [];
afterAll(() => Promise.all(pulses.map((pulse) => pulse.close())));

function isBeating(question: Parameters<typeof pulseOf>[1]): Promise<boolean> {
  const pulse = pulseOf(process.env.TEST_MONGODB_URI!, question);
  pulses.push(pulse);
  return pulse.isBeating();
}

test('a server that answers the query is up', async () => {
  expect(await isBeating((client) => client.db('pulse').collection('nothing').findOne({}))).toBe(true);
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
    let asked = 0;
    expect(await isBeating(() => ((asked += 1) === 1 ? new Promise(() => undefined) : Promise.resolve()))).toBe(isUp);
  });
});

test('a server that accepts connections but rejects the query is not up', async () => {
  expect(await isBeating((client) => client.db('pulse').command({ no_such_command: 1 }))).toBe(false);
});
