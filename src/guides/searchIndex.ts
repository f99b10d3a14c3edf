import { ERROR_CODES } from '../errors';
import type { OpenApiDocument } from '../openapi';
import type { Found } from '../pages/found';
import { operationsOf, REFERENCE } from '../reference/document';
import { searchText } from '../reference/list';
import { TOPICS } from '../reference/topics';
import { addressOf, builtGuides, GUIDES } from './built';

/** Pages that need no more than a name. */
const PAGES: readonly (readonly [title: string, href: string, detail?: string])[] = [
  ['REST reference', REFERENCE],
  ['GraphQL explorer', '/graphql'],
  ['GraphiQL', '/graphiql'],
  ['Guides', GUIDES],
  ['Error codes', '/errors'],
  ['Overview', '/settings/integrations', 'Settings'],
  ['API keys', '/settings/keys', 'Settings'],
  ['Webhooks', '/settings/webhooks', 'Settings'],
  ['Requests', '/settings/requests', 'Settings'],
  ['Members', '/settings/members', 'Settings'],
  ['Audit log', '/settings/audit', 'Settings'],
];

/** Everything that is public: operations and topics of the reference, guides and their headings, error codes, names of pages. */
export function searchIndex(document: OpenApiDocument): readonly Found[] {
  const operations = operationsOf(document).map((operation): Found => {
    const { title, href, method, path } = operation;
    return { kind: 'REST', title, href, detail: `${method} ${path}`, words: searchText(document, operation) };
  });
  const topics = TOPICS.map(({ id, title }): Found => ({ kind: 'REST', title, href: `${REFERENCE}#${id}` }));
  const guides = builtGuides().guides.flatMap((guide): readonly Found[] => {
    const { title, about, headings } = guide;
    const href = addressOf(guide);
    const parts = headings.map(({ id, text }): Found => ({
      kind: 'Guide',
      title: text,
      href: `${href}#${id}`,
      detail: title,
    }));
    return [{ kind: 'Guide', title, href, words: about }, ...parts];
  });
  const errors = Object.entries(ERROR_CODES).map(([code, { status, title }]): Found => ({
    kind: 'Error',
    title,
    href: `/errors/${code}`,
    detail: `${String(status)} ${code}`,
  }));
  const pages = PAGES.map(([title, href, detail]): Found => ({
    kind: 'Page',
    title,
    href,
    ...(detail !== undefined && { detail }),
  }));
  return [...pages, ...operations, ...topics, ...guides, ...errors];
}
