import { type RequestHandler, Router } from 'express';
import type { OpenApiDocument } from '../openapi';
import { html, type Html, jsonBlock, layout, withCode } from '../pages/html';
import { ownPolicy } from '../pages/page';
import { methodNotAllowed, READS, wantsPage } from '../pages/problems';
import { createSite, type Site } from '../pages/site';
import { createPageSender } from '../pages/textCache';
import { type Operation, operationsOf, REFERENCE, words } from './document';
import { requestForm } from './form';
import { list, methodPill, searchData } from './list';
import { operationSamples, operationText, isJson } from './operation';
import { topics } from './topics';

export interface ReferenceOptions {
  /** Makes the document; called once, at the first visit. */
  readonly document: () => OpenApiDocument;
  readonly site?: Site;
  /** The key that the demo puts into the forms. */
  readonly demoKey?: string | undefined;
}

/** What all pages are made of. */
interface Source {
  readonly document: OpenApiDocument;
  readonly operations: readonly Operation[];
  /** What the search looks at, the same on each page. */
  readonly search: Html;
}

/** The REST reference: `/api/v1/docs`, and an address for each operation. Each page is made at its first visit. */
export function createReference({ document: make, site = createSite(), demoKey }: ReferenceOptions): RequestHandler {
  const send = createPageSender(site, demoKey);
  let source: Source | undefined;
  const read = () => {
    if (source) return source;
    const document = make();
    const operations = operationsOf(document);
    return (source = { document, operations, search: searchData(document, operations) });
  };

  const pageAt = (path: string, key: string | undefined): Html => {
    const operation = read().operations.find(({ href }) => href === path);
    return operation ? operationPage(read(), operation, key) : startPage(read());
  };

  /** Leaves the route if there is no such page. */
  const requirePage: RequestHandler = ({ path }, _response, next) => {
    next(path === REFERENCE || read().operations.some(({ href }) => href === path) ? undefined : 'route');
  };

  const answer: RequestHandler = (request, response) => {
    const { path } = request;
    send(request, response, path, (key) => pageAt(path, key));
  };

  const router = Router({ caseSensitive: true, strict: true });
  router
    .route(`${REFERENCE}{/:group/:operation}`)
    .all(requirePage)
    .get(wantsPage, ownPolicy, answer)
    .all(methodNotAllowed(READS));
  return router;
}

const COMMON = { current: REFERENCE, bundle: 'reference' } as const;

function startPage({ document, operations, search }: Source): Html {
  const { description } = document.info as { readonly description: string };
  const groups = document.tags as readonly { readonly name: string; readonly description: string }[];
  return layout({
    ...COMMON,
    title: 'REST reference',
    description: 'Every operation of the REST API, with a form to try it.',
    body: html`<div class="columns">
        ${list(operations)}
        <div class="start">
          <section class="card">
            <h1>REST reference</h1>
            <p class="lead">${withCode(description)}</p>
          </section>
          ${topics()}
          <section class="card" aria-labelledby="operations-title">
            <h2 id="operations-title">Operations</h2>
            ${groups.map(
              ({ name, description: about }) =>
                html`<h3>${words(name)} <small>${about}</small></h3>
                  <ul class="rows">
                    ${operations.filter(({ group }) => group === name).map(row)}
                  </ul>`,
            )}
          </section>
        </div>
      </div>
      ${search}`,
  });
}

function row({ href, method, path, title }: Operation): Html {
  return html`<li>
    <a href="${href}">${methodPill(method)} <code>${path}</code> <span>${title}</span></a>
  </li>`;
}

function operationPage({ document, operations, search }: Source, operation: Operation, key: string | undefined): Html {
  return layout({
    ...COMMON,
    title: `${operation.title} · REST reference`,
    description: operation.summary,
    body: html`<div class="columns">
        ${list(operations, operation)} ${operationText(document, operation)} ${operationSamples(document, operation)}
      </div>
      ${isJson(operation) ? requestForm(document, operation) : undefined} ${search} ${jsonBlock('settings', { key })}`,
  });
}
