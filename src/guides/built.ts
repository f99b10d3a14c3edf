import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../package';

export interface Heading {
  readonly id: string;
  readonly level: number;
  readonly text: string;
  /** The names in code below it, by which the search finds it. */
  readonly words: string;
}

/** A guide in the form in which tools/guides.js writes it to dist/guides.json, from the Markdown in docs/guides. */
export interface Guide {
  /** Its address below `/guides`. */
  readonly name: string;
  /** The heading under which it is listed. */
  readonly group: string;
  readonly title: string;
  /** What it is about, in a sentence. */
  readonly about: string;
  readonly headings: readonly Heading[];
  /** In their order: HTML, and code that the page highlights. */
  readonly parts: readonly (string | { readonly language: string; readonly code: string })[];
  /** Its source, with links to addresses of this gateway. */
  readonly markdown: string;
}

interface Built {
  readonly guides: readonly Guide[];
  /** Programs that guides link to, by their addresses. */
  readonly programs: Readonly<Record<string, string>>;
}

let built: Built | undefined;

/** The guides in the order in which they are listed, and their programs. @throws Error if they were not built */
export function builtGuides(): Built {
  const path = join(ROOT, 'dist', 'guides.json');
  try {
    built ??= JSON.parse(readFileSync(path, 'utf8')) as Built;
    return built;
  } catch (cause) {
    throw new Error(`The guides are not built: run npm run build, which writes ${path}.`, { cause });
  }
}

export const GUIDES = '/guides';

export const addressOf = ({ name }: Guide): string => `${GUIDES}/${name}`;
