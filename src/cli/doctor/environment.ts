import type { Config } from '../../config';
import type { Check } from './check';

/** Node's oldest version that is supported: major, minor (package.json, engines). */
const OLDEST = [20, 19] as const;
/** Node 20 gets no fixes any more. */
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
      fix: `install Node ${String(RECOMMENDED)}; ${OLDEST.join('.')} is the oldest that works`,
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
      ? 'KEY_PEPPER is not set, which is allowed; setting it later ends the keys made before'
      : 'KEY_PEPPER is set';
  return { name: 'keys', ok: true, detail };
}
