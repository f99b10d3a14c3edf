import type { Logger } from 'pino';
import { type Availability, createAvailability } from '../database/availability';
import { WRONG_FROM } from '../database/clock';
import type { Databases } from '../database/connect';
import { describeError } from '../log';

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

/** Logs when the clock of a cluster and this machine's begin to differ, and when they agree again. */
function clockWatch({ clocks }: Pick<Databases, 'clocks'>, logger: Logger): () => void {
  const wrong = new Set<string>();
  return () => {
    for (const { cluster, ahead, machine } of clocks()) {
      const isWrong = Math.abs(ahead) >= WRONG_FROM;
      if (isWrong === wrong.has(cluster)) continue;
      if (isWrong) wrong.add(cluster);
      else wrong.delete(cluster);
      const difference = { cluster, machine, ahead_seconds: Math.round(ahead / 1000) };
      if (isWrong)
        logger.warn(difference, 'the clock of the database and that of this machine differ; see scopegate doctor');
      else logger.info(difference, 'the clock of the database and that of this machine agree again');
    }
  };
}
