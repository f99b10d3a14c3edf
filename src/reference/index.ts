import { gunzipSync, gzipSync } from 'node:zlib';
import type { RequestHandler } from 'express';
import type { OpenApiDocument } from '../openapi';
import { entityTag } from '../schema/entityTags';
import { below, html, type Html, jsonBlock, layout, withCode } from '../pages/html';
import { visibleDemoKey } from '../pages/page';
import { type Operation, operationsOf, REFERENCE, words } from './document';
import { requestForm } from './form';
import { list, methodPill, searchData } from './list';
import { operationSamples, operationText } from './operation';
import { topics } from './topics';

export interface ReferenceOptions {
  /** Makes the document, for the first visit. */
  readonly document: () => OpenApiDocument;
  /** Path of the pages, which a proxy in front removes. */
  readonly base?: string;
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
export function createReference({ document: make, base = '', demoKey }: ReferenceOptions) {
  const made = new Map<string, { readonly zipped: Buffer; readonly tag: string }>();
  let source: Source | undefined;
  const read = () => {
    if (source) return source;
    const document = make();
    const operations = operationsOf(document);
    return (source = { document, operations, search: searchData(document, operations) });
  };

  function pageOf(path: string, key: string | undefined) {
    const name = `${path} ${key === undefined ? '' : 'with key'}`;
    const known = made.get(name);
    if (known) return known;
    const operation = read().operations.find(({ href }) => href === path);
    const whole = operation ? operationPage(read(), operation, key) : startPage(read());
    const bytes = Buffer.from(below(base, whole));
    const page = { zipped: gzipSync(bytes), tag: entityTag(bytes) };
    made.set(name, page);
    return page;
  }

  /** Leaves the route if there is no such page. */
  const requirePage: RequestHandler = ({ path }, _response, next) => {
    next(path === REFERENCE || read().operations.some(({ href }) => href === path) ? undefined : 'route');
  };

  const answer: RequestHandler = (request, response) => {
    const key = visibleDemoKey(request, demoKey);
    const { zipped, tag } = pageOf(request.path, key);
    const isZipped = request.acceptsEncodings('gzip') === 'gzip';
    // a page with a key must not be written to disk
    response
      .set('Cache-Control', key === undefined ? 'no-cache' : 'no-store')
      .vary('Accept')
      .vary('Accept-Encoding');
    // weak, since it is the same for all encodings
    response.set('ETag', `W/${tag}`).type('html');
    if (isZipped) response.set('Content-Encoding', 'gzip');
    response.send(isZipped ? zipped : gunzipSync(zipped));
  };

  return { requirePage, answer };
}

const COMMON = { current: REFERENCE, bundle: 'reference' } as const;

function startPage({ document, operations, search }: Source): Html {
  const { description } = document.info as { readonly description: string };
  const groups = document.tags as readonly { readonly name: string; readonly description: string }[];
  return layout({
    ...COMMON,
    title: 'REST reference · Scopegate',
    description: 'Every operation of the Scopegate REST API, with a form to try it.',
    body: html`<div class="columns">
        ${list(operations)}
        <div class="start">
          <section class="card">
            <h1>REST reference</h1>
            <p class="lead">${withCode(description)}</p>
            <p id="lost" role="alert"></p>
          </section>
          ${topics()}
          <section class="card" aria-labelledby="operations-title">
            <h2 id="operations-title">Operations</h2>
            ${groups.map(
              ({ name, description: about }) =>
                html`<h3 id="/${name}">${words(name)} <small>${about}</small></h3>
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

/** The id is the fragment of links of earlier versions, so that they lead here without scripts. */
function row({ href, method, path, title, oldLink }: Operation): Html {
  return html`<li>
    <a href="${href}" id="/${oldLink}">${methodPill(method)} <code>${path}</code> <span>${title}</span></a>
  </li>`;
}

function operationPage({ document, operations, search }: Source, operation: Operation, key: string | undefined): Html {
  return layout({
    ...COMMON,
    title: `${operation.title} · REST reference · Scopegate`,
    description: operation.summary,
    body: html`<div class="columns">
        ${list(operations, operation)} ${operationText(document, operation)} ${operationSamples(document, operation)}
      </div>
      ${requestForm(document, operation)} ${search} ${jsonBlock('settings', { key })}`,
  });
}
