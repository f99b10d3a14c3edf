import { ask, findOnPath } from './execute';

const NAMES = ['python3', 'python3.13', 'python3.12', 'python3.11', 'python3.10', 'python'];
/** The Python 3 minor versions for which SecantusDB 0.7.0b3 has wheels on PyPI. */
const OLDEST = 10;
const NEWEST = 13;

/** A Python that can create the virtual environment, or one line about what is missing. */
export type PythonSearch =
  | { readonly found: true; readonly command: string; readonly version: string }
  | { readonly found: false; readonly reason: string };

/** Searches PATH; each candidate is run, because a version manager's shim may exist but not work. */
export async function findPython(path: string, signal?: AbortSignal): Promise<PythonSearch> {
  const reasons: string[] = [];
  for (const name of NAMES) {
    for (const command of await findOnPath(name, path)) {
      const fault = await faultOf(command, signal);
      if (typeof fault !== 'string') return { found: true, command, version: fault.version };
      reasons.push(`${command}: ${fault}`);
    }
  }
  return {
    found: false,
    reason:
      reasons.length === 0 ? 'no python3 on PATH' : `no usable Python 3.10 to 3.13 on PATH (${reasons.join('; ')})`,
  };
}

async function faultOf(command: string, signal?: AbortSignal): Promise<string | { version: string }> {
  const asked = await ask(command, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], signal);
  if (!asked.ok) return asked.reason;
  const [major, minor] = asked.text.split('.').map(Number);
  if (major !== 3 || minor === undefined || minor < OLDEST) return `Python ${asked.text} is too old`;
  if (minor > NEWEST) return `Python ${asked.text} is too new for this release of SecantusDB`;
  // Debian ships venv without ensurepip
  const modules = await ask(command, ['-c', 'import venv, ensurepip'], signal);
  if (!modules.ok) return `Python ${asked.text} lacks the venv module (on Debian and Ubuntu: apt install python3-venv)`;
  return { version: asked.text };
}
