import type { Connection } from 'mongoose';

/** The oldest MongoDB whose every command of ours is as its documentation has it (docs/decisions/mongodb-versions.md). */
export const OLDEST_MONGODB = '6.0';

/** A cluster runs a server that is too old to serve from. */
export class OldServerError extends Error {
  override readonly name = 'OldServerError';
}

/** The version that a cluster's server says it is. */
export async function versionOf(connection: Connection): Promise<string> {
  const { version } = (await connection.getClient().db('admin').command({ buildInfo: 1 })) as { version?: unknown };
  return typeof version === 'string' ? version : 'unknown';
}

/** What is wrong with a cluster's version, in one sentence; undefined when nothing is. */
export function tooOld(cluster: string, version: string): string | undefined {
  const [major = NaN, minor = NaN] = version.split('.', 2).map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_MONGODB.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `cluster ${cluster} runs MongoDB ${version}; ${OLDEST_MONGODB} or later is needed`;
}
