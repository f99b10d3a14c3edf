import { isNativeError } from 'node:util/types';

/** No database can be had; the message is complete and meant for the user. */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** A server was started and did not come up; the message quotes the end of its log. */
export class StartFailure extends Error {
  override readonly name = 'StartFailure';
}

const ADVICE = [
  'Any one of these helps:',
  '  - set MONGODB_URI to a MongoDB replica set, for example one started by `docker compose up -d mongo`',
  '  - install mongod (https://www.mongodb.com/docs/manual/installation/), or name its binary in MONGOD_BINARY',
  '  - let this machine reach fastdl.mongodb.org, from where mongod is downloaded once',
  '  - install Python 3.10 to 3.13 with its venv module and let pip reach PyPI',
].join('\n');

/** Lists every link with its reason, so that the user can mend whichever is nearest. */
export function nothingWorks(attempts: readonly { title: string; reason: string }[]): DatabaseUnavailable {
  const lines = [{ title: 'MONGODB_URI', reason: 'not set' }, ...attempts].map(
    ({ title, reason }, index) => `  ${String(index + 1)}. ${title}: ${reason.replaceAll('\n', '\n     ')}`,
  );
  return new DatabaseUnavailable(`no database could be started. Tried, in this order:\n${lines.join('\n')}\n${ADVICE}`);
}

/** The message of anything thrown. */
export function reasonOf(error: unknown): string {
  return isNativeError(error) ? error.message : String(error);
}

/** Whether a thrown value is a system error with this code, such as ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  // not instanceof: jest's realm has an Error of its own
  return isNativeError(error) && 'code' in error && error.code === code;
}
