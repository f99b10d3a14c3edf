import { type RequestHandler, Router } from 'express';
import type { OpenApiDocument } from '../openapi';
import { createSite, type Site } from '../pages/site';
import { createTextSender, type Text } from '../pages/textCache';
import { ownPolicy, type Visit } from '../pages/page';
import { methodNotAllowed, READS, wantsPage } from '../pages/problems';
import { addressOf, builtGuides, GUIDES } from './built';
import { llmsText, markdownOf } from './markdown';
import { guidePage, guidesStart } from './page';
import { searchIndex, type SettingsPages } from './searchIndex';

export interface GuidesOptions extends Pick<Visit, 'introspection'> {
  /** Makes the OpenAPI document, for the search; called when that is first asked for. */
  readonly document: () => OpenApiDocument;
  readonly settings: SettingsPages;
  /** The gateway's address, where it is known. */
  readonly publicUrl?: string | undefined;
  readonly site?: Site;
}

/** The guides at `/guides`, as pages and as Markdown, their programs, `/llms.txt`, and what the search of all pages looks at. */
export function createGuides(options: GuidesOptions): RequestHandler {
  const { document, settings, publicUrl, introspection, site = createSite() } = options;
  const { guides, programs } = builtGuides();
  const send = createTextSender();
  const router = Router({ caseSensitive: true, strict: true });
  /** Serves a text, which the cache makes once. */
  const serve = (path: string, text: Text, ...before: RequestHandler[]): void => {
    const answer: RequestHandler = (request, response) => {
      send(request, response, path, text);
    };
    router
      .route(path)
      .get(...before, answer)
      .all(methodNotAllowed(READS));
  };
  const servePage = (path: string, make: () => ReturnType<typeof guidesStart>): void => {
    serve(path, { type: 'html', make: () => site.textOf(make()) }, wantsPage, ownPolicy);
  };

  servePage(GUIDES, guidesStart);
  for (const guide of guides) {
    servePage(addressOf(guide), () => guidePage(guide));
    serve(`${addressOf(guide)}.md`, {
      type: 'text/markdown',
      make: () => site.withPrefixes(markdownOf(guide, publicUrl)),
    });
  }
  for (const [path, text] of Object.entries(programs)) serve(path, { type: 'text/plain', make: () => text });
  serve('/llms.txt', { type: 'text/plain', make: () => llmsText(introspection, site, publicUrl) });
  serve('/search.json', { type: 'json', make: () => JSON.stringify(searchIndex(document(), settings)) });
  return router;
}
