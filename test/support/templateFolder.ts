import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../docs/markdown';

/** The folder that `scopegate schema init` writes. */
export const TEMPLATE = join(ROOT, 'examples', 'schema');

/** Gives each test of a file a copy of it. */
export function eachWithTemplate(use: (folder: string) => void): void {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'scopegate-own-'));
    cpSync(TEMPLATE, folder, { recursive: true });
    use(folder);
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
}
