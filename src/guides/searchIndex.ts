import { ERROR_CODES } from '../errors';
import type { OpenApiDocument } from '../openapi';
import type { SearchEntry } from '../pages/searchEntry';
import { operationsOf, REFERENCE } from '../reference/document';
import { searchText } from '../reference/list';
import { TOPICS } from '../reference/topics';
import { addressOf, builtGuides, GUIDES } from './built';

/** Pages that are neither guides nor made from the document. */
const PAGES: readonly (readonly [title: string, href: string])[] = [
  ['REST reference', REFERENCE],
  ['GraphQL explorer', '/graphql'],
  ['GraphiQL', '/graphiql'],
  ['Guides', GUIDES],
  ['Error codes', '/errors'],
];

/** The pages of the settings: the end of their address, their icon and their name. */
export type SettingsPages = readonly (readonly [name: string, icon: string, title: string])[];

/** Everything that is public: operations and topics of the reference, guides and their headings, error codes, names of pages. */
export function searchIndex(document: OpenApiDocument, settings: SettingsPages): readonly SearchEntry[] {
  const operations = operationsOf(document).map((operation): SearchEntry => {
    const { title, href, method, path } = operation;
    return { kind: 'REST', title, href, detail: `${method} ${path}`, words: searchText(document, operation) };
  });
  const topics = TOPICS.map(({ id, title }): SearchEntry => ({ kind: 'REST', title, href: `${REFERENCE}#${id}` }));
  const guides = builtGuides().guides.flatMap((guide): readonly SearchEntry[] => {
    const { title, about, headings } = guide;
    const href = addressOf(guide);
    const parts = headings.map(({ id, text, words }): SearchEntry => ({
      kind: 'Guide',
      title: text,
      href: `${href}#${id}`,
      detail: title,
      ...(words !== '' && { words }),
    }));
    return [{ kind: 'Guide', title, href, words: about }, ...parts];
  });
  const errors = Object.entries(ERROR_CODES).map(([code, { status, title }]): SearchEntry => ({
    kind: 'Error',
    title,
    href: `/errors/${code}`,
    detail: `${String(status)} ${code}`,
  }));
  const pages = PAGES.map(([title, href]): SearchEntry => ({ kind: 'Page', title, href }));
  const ofSettings = settings.map(([name, , title]): SearchEntry => ({
    kind: 'Page',
    title,
    href: `/settings/${name}`,
    detail: 'Settings',
  }));
  return [...pages, ...ofSettings, ...operations, ...topics, ...guides, ...errors];
}
