import { EventEmitter } from 'node:events';
import pino from 'pino';
import { createAccessLog } from '../../src/http/accessLog';
import type { Exchange } from '../../src/http/exchange';

type Log = Partial<Exchange['log']>;
const CALLER = { kind: 'key', key: { id: 'k' }, organisation: { id: 'o' } };
const REFUSED: Log = { code: 'unauthenticated', refusal: { reason: 'missing' } };
const SHED: Log = { code: 'unavailable', unavailable: { reason: 'shed', detail: 'Too much.' } };

beforeAll(() => jest.useFakeTimers());
afterAll(() => jest.useRealTimers());

test.each([
  [401, REFUSED, 'missing', 'requests without a valid key that have no line of their own'],
  [503, SHED, 'shed', 'requests answered with 503 that have no line of their own'],
])(
  'of the lines of %i, 100 a second are written and the rest counted; others are all written',
  (status, log, reason, msg) => {
    const lines: Record<string, unknown>[] = [];
    const nothing = () => undefined;
    const accessLog = createAccessLog({
      logger: pino({ base: null }, { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
      metrics: { requestFinished: nothing, requestRefused: nothing, requestUnavailable: nothing },
      done: nothing,
    });
    const answer = (statusCode: number, told: Log): void => {
      const response = Object.assign(new EventEmitter(), { statusCode, writableFinished: true });
      const exchange = { request: { method: 'GET' }, response, path: '/api/v1/me', log: told } as unknown as Exchange;
      accessLog.watch(exchange, 'rest');
      response.emit('close');
    };
    for (let second = 1; second <= 2; second += 1) {
      lines.length = 0;
      for (let one = 0; one < 150; one += 1) answer(status, log);
      answer(200, { principal: CALLER as never });
      expect(lines).toHaveLength(101);
      expect(lines.at(-1)).toMatchObject({ status: 200, key_id: 'k' });
      jest.advanceTimersByTime(1000);
      expect(lines.at(-1)).toMatchObject({ msg, not_logged: 50, reasons: { [reason]: 50 } });
    }
  },
);
