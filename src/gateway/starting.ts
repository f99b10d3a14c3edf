import type { IncomingMessage, ServerResponse } from 'node:http';
import { createBodyMemory } from '../admission/bodyMemory';
import { createRequestQueue } from '../admission/requestQueue';
import type { Config } from '../config';
import { AppError } from '../errors';
import { openExchange } from '../http/exchange';
import { writeError } from '../http/problem';
import { createStartingMetrics } from '../metrics/gauges';
import { NOT_RESPONDING } from '../mongo/deployment';
import { createHealth, createMetricsPage, metricsAccess } from './health';
import { entryOf } from './paths';
import type { Answers } from './ports';

export interface StartingAnswers extends Answers {
  /** Requests that got 503 so far, health checks and scrapes apart. */
  readonly refused: () => number;
}

/**
 * Answers while a gateway waits for its database: it is alive, and not ready because of `detail`, and every other request gets 503 at once,
 * without its body being read.
 */
export function createStartingAnswers(config: Config, detail: () => string): StartingAnswers {
  // an exchange needs them; nothing here takes memory or a turn
  const unused = { bodies: createBodyMemory(0, () => undefined), queue: createRequestQueue(() => undefined) };
  const health = createHealth(() => ({
    status: 'starting',
    checks: { database: 'unavailable' },
    detail: detail(),
  }));
  const metrics = createStartingMetrics();
  const hasOperators = config.OPERATOR_TOKENS.length > 0;
  let refused = 0;

  const answerAt = (isAdmin: boolean) => {
    const page = createMetricsPage(metrics, metricsAccess(config, isAdmin));
    const operators = { hasOperators: hasOperators && isAdmin === (config.ADMIN_PORT !== undefined) };
    /** Never rejects: what health and the page answer is in memory. */
    return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      // at PORT, too, since nothing here goes by the address that a proxy names
      const exchange = openExchange(request, response, { trustedProxies: 0, ...unused });
      if ((await health(exchange)) || (await page(exchange))) return;
      refused += 1;
      const { errors } = entryOf(exchange, isAdmin ? { ...operators, isAdmin } : operators);
      writeError(exchange, new AppError('unavailable', NOT_RESPONDING, { reason: 'away' }), errors);
    };
  };
  const answer = answerAt(false);
  const answerAdmin = answerAt(true);
  return {
    answer: (request, response) => void answer(request, response),
    answerAdmin: (request, response) => void answerAdmin(request, response),
    refused: () => refused,
  };
}
