import type { Logger } from 'pino';
import { describeError } from '../log';
import { createTails, type Tails, type TailsOptions } from './tail';
import { createWaiting, type Waiting } from './waiting';

interface PartsOptions extends Pick<TailsOptions, 'databases' | 'feeds' | 'onWritten' | 'onStored'> {
  readonly logger: Logger;
}

/** What records the events of all clusters, and what requests wait with for them; both log what they cannot do. */
export function eventsOf({ logger, ...options }: PartsOptions): { readonly tails: Tails; readonly waiting: Waiting } {
  const waiting = createWaiting({
    streams: options.databases.streams,
    onError: (cluster, error) => {
      logger.warn(
        { cluster, error: describeError(error) },
        'requests that wait for events are not told of them; will retry',
      );
    },
  });
  const tails = createTails({
    ...options,
    onNoLog: (cluster, reason) => {
      logger.warn({ cluster, reason }, 'events are not recorded: the log of the database cannot be read');
    },
    onError: (cluster, error) => {
      logger.warn({ cluster, error: describeError(error) }, 'recording events failed; will retry');
    },
    onLost: (cluster, from) => {
      logger.error({ cluster, from }, 'the log of the database no longer has all changes; organisations are told');
    },
    onRefused: (cluster, organisation, error) => {
      logger.warn(
        { cluster, organisation_id: organisation, error: describeError(error) },
        'events of an organisation could not be stored; it will be told of a gap',
      );
    },
  });
  return { tails, waiting };
}
