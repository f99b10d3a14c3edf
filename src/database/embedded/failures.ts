import { isNativeError } from 'node:util/types';

/** No database can be started; the message is complete and meant for the user. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** A server did not start; the message quotes the end of its log. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

const ADVICE = [
  'To fix this, do one of these:',
  '  - set MONGODB_URI to a MongoDB replica set, for example one started by `docker compose up -d mongo`',
  '  - install mongod (https://www.mongodb.com/docs/manual/installation/), or set MONGOD_BINARY to its path',
  '  - allow access to fastdl.mongodb.org, from which mongod is downloaded once',
  '  - install Python 3.10 to 3.13 with its venv module, and allow access to PyPI',
].join('\n');

/** Lists every link with its reason, so that the user can fix the easiest one. */
export function nothingWorks(attempts: readonly { title: string; reason: string }[]): DatabaseUnavailable {
  const lines = [{ title: 'MONGODB_URI', reason: 'not set' }, ...attempts].map(
    ({ title, reason }, index) => `  ${String(index + 1)}. ${title}: ${reason.replaceAll('\n', '\n     ')}`,
  );
  return new DatabaseUnavailable(`no database could be started. Tried, in this order:\n${lines.join('\n')}\n${ADVICE}`);
}

/** The message of any thrown value. */
export function reasonOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}

/** Whether a thrown value is a system error with this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  // not instanceof, because jest's realm has its own Error
  return isNativeError(error) && 'code' in error && error.code === code;
}
