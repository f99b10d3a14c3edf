import type { Connection } from 'mongoose';

/** The oldest MongoDB version that supports every command we use as documented (docs/decisions/mongodb-versions.md). */
export const OLDEST_MONGODB = '6.0';

/** A cluster's server is too old. */
export class OldServerError extends Error {
  override readonly name = 'OldServerError';
}

/** The version reported by a cluster's server. */
export async function versionOf(connection: Connection): Promise<string> {
  const { version } = (await connection.getClient().db('admin').command({ buildInfo: 1 })) as { version?: unknown };
  return typeof version === 'string' ? version : 'unknown';
}

/** Why a cluster's version is not supported; undefined if it is. */
export function tooOld(cluster: string, version: string): string | undefined {
  const [major = NaN, minor = NaN] = version.split('.', 2).map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_MONGODB.split('.').map(Number);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `cluster ${cluster} runs MongoDB ${version}; ${OLDEST_MONGODB} or later is required`;
}
