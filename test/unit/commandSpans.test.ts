import { EventEmitter } from 'node:events';
import { trace, type Tracer } from '@opentelemetry/api';
import type { mongo } from 'mongoose';
import { commandSpans } from '../../src/tracing/commandSpans';

test('commands that get no answer take no spans from those that come later', () => {
  jest.spyOn(trace, 'getActiveSpan').mockReturnValue(trace.wrapSpanContext({ traceId: '', spanId: '', traceFlags: 0 }));
  const ended: string[] = [];
  const startSpan = (name: string) => ({ end: () => ended.push(name) });
  const client = new EventEmitter();
  commandSpans({ startSpan } as unknown as Tracer)(client as mongo.MongoClient);
  const start = (requestId: number) =>
    client.emit('commandStarted', {
      requestId,
      commandName: 'find',
      command: { find: String(requestId) },
      address: 'x:1',
    });
  for (let requestId = 0; requestId <= 10_000; requestId += 1) start(requestId);
  client.emit('commandSucceeded', { requestId: 10_000 });
  expect(ended).toEqual(['find 0', 'find 10000']);
});
