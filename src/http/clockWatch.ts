import type { Logger } from 'pino';
import { WRONG_FROM } from '../database/clock';
import type { Databases } from '../database/connect';

/** Logs when the clock of a cluster and this machine's begin to differ, and when they agree again. */
export function clockWatch({ clocks }: Pick<Databases, 'clocks'>, logger: Logger): () => void {
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
