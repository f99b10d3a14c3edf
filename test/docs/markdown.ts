import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(__dirname, '..', '..');

/** This page has its own test (operators.test.ts), since its commands start gateways and stop a database. */
export const WALKED = 'docs/guides/operators.md';

/** So does this one: its commands run in parallel. */
export const RECEIVERS = 'docs/guides/receivers.md';

/** What its commands print is of another organisation each time. */
export const PRODUCT = 'docs/guides/product.md';

/** The pages whose commands and snippets are tested. */
export const PAGES: readonly string[] = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'examples/README.md',
  'docs/configuration.md',
  'docs/settings.md',
  'docs/stored.md',
  'docs/upgrading.md',
  'docs/guides/quickstart.md',
  'docs/guides/integrators.md',
  ...['catalogue', 'customers', 'dashboard', 'events', 'helpdesk', 'orders'].map((job) => `docs/guides/jobs/${job}.md`),
  'docs/guides/other-apis.md',
  PRODUCT,
  'docs/guides/assistants.md',
  RECEIVERS,
  WALKED,
  'docs/guides/doctor.md',
  'docs/guides/sharding.md',
  'docs/guides/schema.md',
  'docs/guides/contributors.md',
];

/** All pages in these folders, also those without commands. */
export const pagesIn = (...folders: readonly string[]): string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((file) => file.endsWith('.md'))
      .map((file) => join(folder, file)),
  );
export const DOCUMENTED = ['', 'docs', 'docs/decisions', 'docs/guides', 'docs/guides/jobs'] as const;

/** A fenced block. */
export interface Block {
  readonly page: string;
  /** The heading it is under. */
  readonly section: string;
  /** Line number of its first line, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** Why it is only parsed and not run, from a comment `<!-- docs: … -->` before it. */
  readonly reason: string | undefined;
  /** The last line of prose before it. */
  readonly before: string;
}

export function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  const lines = read(page).split('\n');
  let [before, reason]: [string, string | undefined] = ['', undefined];
  let section = '';
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const fence = /^```(\w*)$/.exec(line);
    const comment = /^<!-- docs: (.+) -->$/.exec(line);
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    if (comment) reason = comment[1];
    else if (fence) {
      const start = at + 1;
      while (lines[at + 1] !== '```' && at + 1 < lines.length) at += 1;
      const text = lines.slice(start, at + 1).join('\n');
      blocks.push({ page, section, line: start + 1, language: fence[1] ?? '', text, reason, before });
      at += 1;
      reason = undefined;
    } else if (line.trim() !== '') before = line;
  }
  return blocks;
}

/** A line … stands for any lines, and … within a line for any text. */
export function patternOf(shown: string): RegExp {
  const quoted = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('…', '.*');
  const lines = shown.split('\n').map((line) => (line === '…' ? '(?:.*\\n)*?' : `${quoted(line)}\\n`));
  return new RegExp(`^${lines.join('')}$`);
}
