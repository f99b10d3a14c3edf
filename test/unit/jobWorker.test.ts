import pino from 'pino';
import { createJobWorker, type WorkerOptions } from '../../src/jobs/worker';
import { eventually } from '../api/http/eventually';

/* How a gateway that stops leaves a job to another. */

test('a job whose attempt is interrupted keeps the error of an earlier one', async () => {
  const job = { _id: 'job', kind: 'move', organisation_id: 'org', to: 'near', actor: {}, error: 'the shard was away' };
  const released: unknown[] = [];
  let interrupt: ((error: Error) => void) | undefined;
  const jobs = {
    take: jest.fn(() => Promise.resolve(undefined)).mockResolvedValueOnce(job as never),
    keep: () => Promise.resolve(true),
    release: (...how: unknown[]) => Promise.resolve(released.push(...how.slice(1))),
  };
  const moveOf = () => new Promise((_resolve, reject) => (interrupt = reject));
  const control = { jobs, moving: { moveOf, abandoned: () => Promise.resolve([]) }, as: () => ({}) };
  const worker = createJobWorker({ logger: pino({ level: 'silent' }), control } as unknown as WorkerOptions);
  worker.start();
  await eventually(() => interrupt);
  const stopped = worker.stop();
  interrupt!(new Error('the gateway stops'));
  await stopped;
  expect(released).toEqual([job.error, 0]);
});
