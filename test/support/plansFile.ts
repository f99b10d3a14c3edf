import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes a PLANS_FILE and returns its path; a text stays as it is. */
export function plansFile(content: unknown): string {
  const path = join(mkdtempSync(join(tmpdir(), 'scopegate-plans-')), 'plans.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
