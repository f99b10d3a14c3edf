import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './facts';

/* Converts the output of `uv pip compile --generate-hashes` to the gateway's pins file (docs/decisions/embedded-database.md). */

const PINS = join(ROOT, 'src', 'database', 'embedded', 'secantusdbPins.json');

/** Hashes by requirement, from a requirements file in pip's format. */
function pinsOf(text: string): Record<string, string[]> {
  const pins: Record<string, string[]> = {};
  for (const entry of text.replaceAll('\\\n', ' ').split('\n')) {
    const [requirement = ''] = entry.split(' --hash=', 1);
    if (/^[a-z0-9-]+==/.test(requirement))
      pins[requirement.trim()] = [...entry.matchAll(/--hash=(sha256:[0-9a-f]{64})/g)].map(([, hash = '']) => hash);
  }
  return pins;
}

writeFileSync(PINS, `${JSON.stringify(pinsOf(readFileSync(0, 'utf8')), undefined, 2)}\n`);
