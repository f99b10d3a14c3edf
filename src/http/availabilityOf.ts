import type { Logger } from 'pino';
import { type Availability, createAvailability } from '../database/availability';
import type { Databases } from '../database/connect';
import { describeError } from '../log';
import { clockWatch } from './clockWatch';

/** Which clusters respond, as a gateway sees it, which logs each change. */
export function availabilityOf(databases: Databases, logger: Logger): Availability {
  const watchClocks = clockWatch(databases, logger);
  return createAvailability({
    clusters: databases.clusters,
    answers: async (cluster) => {
      const isThere = await databases.answers(cluster);
      watchClocks();
      return isThere;
    },
    onChange: (cluster, isAway) => {
      const [state, says] = isAway ? ['unavailable', 'is not responding'] : ['ok', 'is responding again'];
      logger.warn({ cluster, database: state }, `the database cluster ${cluster} ${says}`);
    },
    write: databases.tryWriting,
    onWrites: (cluster, failure) => {
      const fields = { cluster, database: failure === undefined ? 'ok' : 'read_only' };
      if (failure === undefined) logger.warn(fields, `the database cluster ${cluster} can be written to again`);
      else
        logger.warn(
          { ...fields, error: describeError(failure) },
          `the database cluster ${cluster} responds but cannot be written to`,
        );
    },
  });
}
