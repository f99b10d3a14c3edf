import type { Config } from '../../config';
import type { Check } from './check';

/** Oldest supported Node version: major, minor (package.json, engines). */
const OLDEST = [20, 19] as const;
/** Node 20 is end-of-life. */
const RECOMMENDED = 24;

export function checkNode(version = process.versions.node): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const detail = `version ${version}`;
  if (!ok)
    return {
      name: 'node',
      ok,
      detail,
      fix: `install Node ${String(RECOMMENDED)}; ${OLDEST.join('.')} is the oldest supported version`,
    };
  return {
    name: 'node',
    ok,
    detail: major < RECOMMENDED ? `${detail}; ${String(RECOMMENDED)} is recommended` : detail,
  };
}

export function checkPepper({ KEY_PEPPER }: Pick<Config, 'KEY_PEPPER'>): Check {
  const detail =
    KEY_PEPPER === ''
      ? 'KEY_PEPPER is not set (optional); setting it later invalidates existing keys'
      : 'KEY_PEPPER is set';
  return { name: 'keys', ok: true, detail };
}
