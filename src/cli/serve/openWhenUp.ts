import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../../config';
import type { Ports } from '../../gateway/ports';
import { createStartingAnswers } from '../../gateway/starting';
import { explainOpening } from '../connection';
import { CommandFailure } from '../ending';

/* A start waits for a database that is away (docs/decisions/database-away.md, "At a start"). */

/** How long after a failure the next attempt begins, in milliseconds; an attempt lasts as long as the driver looks for a server. */
const TRY_AGAIN = 500;

interface WaitingOptions {
  readonly config: Config;
  /** Opened once the database turns out to be away, and left open for the gateway. */
  readonly ports: Ports;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Opens the database, and waits until that succeeds if it is away. Meanwhile the ports say so.
 * @throws AbortError; CommandFailure with the fix, if something is wrong that waiting does not mend; the error itself if it is not known
 */
export async function openWhenUp<T>(
  open: () => Promise<T>,
  { config, ports, logger, signal }: WaitingOptions,
): Promise<T> {
  const began = performance.now();
  let away: string | undefined;
  const starting = createStartingAnswers(config, () => `waiting for the database: ${String(away)}`);
  for (;;) {
    try {
      const opened = await open();
      if (away !== undefined) {
        const waited = Math.round((performance.now() - began) / 1000);
        logger.warn({ database: 'ok', waited_seconds: waited, refused: starting.refused() }, 'the database is there');
      }
      return opened;
    } catch (error) {
      signal.throwIfAborted();
      const explanation = await explainOpening(config.MONGODB_URI, error);
      signal.throwIfAborted();
      if (!explanation) throw error;
      const { detail, fix } = explanation;
      if (explanation.away === undefined) throw new CommandFailure(`${detail}: ${fix}`);
      const isFirst = away === undefined;
      ({ away } = explanation);
      const { url, adminUrl } = await ports.open(starting);
      const where = { url, ...(adminUrl !== undefined && { admin_url: adminUrl }) };
      // once, since the cause may alternate for hours; /readyz has the current one
      if (isFirst) logger.warn({ database: 'unavailable', ...where, detail, fix }, 'waiting for the database');
    }
    await pause(TRY_AGAIN, undefined, { signal });
  }
}
