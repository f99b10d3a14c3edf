import { codeBlock } from '../pages/code';
import { Html, html, layout } from '../pages/html';
import { sideLinks, sideList } from '../pages/sideList';
import { addressOf, builtGuides, type Guide, GUIDES } from './built';

const COMMON = { current: GUIDES, bundle: 'guides' } as const;

/** `/guides`: all of them. */
export function guidesStart(): Html {
  return layout({
    ...COMMON,
    title: 'Guides',
    description: 'How to call the API: quickstart, common jobs, webhooks and assistants.',
    body: html`<div class="columns">
      ${list()}
      <div class="start">
        <section class="card">
          <h1>Guides</h1>
          <p class="lead">
            How to call this API, from the first request to programs for common jobs. Every operation is in the
            <a href="/api/v1/docs">REST reference</a>, every error code at <a href="/errors">/errors</a>. For language
            models there is <a href="/llms.txt">/llms.txt</a>.
          </p>
        </section>
        ${groups().map(
          ([group, guides]) =>
            html`<section class="card" aria-labelledby="group-${group}">
              <h2 id="group-${group}">${group}</h2>
              <ul class="about">
                ${guides.map((guide) => html`<li><a href="${addressOf(guide)}">${guide.title}</a> <span>${guide.about}</span></li>`)}
              </ul>
            </section>`,
        )}
      </div>
    </div>`,
  });
}

/** A guide between the list of all and the list of its headings. */
export function guidePage(guide: Guide): Html {
  const { title, about, headings } = guide;
  const address = addressOf(guide);
  const sections = headings.filter(({ level }) => level === 2);
  return layout({
    ...COMMON,
    title: `${title} · Guides`,
    description: about,
    body: html`<div class="columns guide">
      ${list(address)}
      <article class="text card">
        <h1>${title}</h1>
        <p class="buttons">
          <button class="button" type="button" data-markdown="${address}.md" hidden>Copy as Markdown</button>
          <a href="${address}.md">View as Markdown</a>
        </p>
        ${parts(guide)}
      </article>
      ${
        sections.length === 0
          ? undefined
          : html`<nav class="contents" aria-label="On this page">
              <p>On this page</p>
              ${sections.map(({ id, text }) => html`<a href="#${id}">${text}</a>`)}
            </nav>`
      }
    </div>`,
  });
}

/** What the languages of code blocks are called on the page. */
const LANGUAGES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  json: 'JSON',
  graphql: 'GraphQL',
  ts: 'TypeScript',
  csv: 'CSV',
  text: 'Output',
};

function parts({ parts: all }: Guide): readonly Html[] {
  let blocks = 0;
  return all.map((part) => {
    // tools/guides.js has escaped all but its own tags
    if (typeof part === 'string') return new Html(part);
    const name = LANGUAGES[part.language] ?? part.language;
    blocks += 1;
    return codeBlock(html`${name}`, `${name}, block ${String(blocks)}`, part.code);
  });
}

function list(current?: string): Html {
  const lists = groups().map(
    ([group, guides]) =>
      html`<p class="group">${group}</p>
        ${sideLinks(
          guides.map((guide) => ({ href: addressOf(guide), text: guide.title })),
          current,
        )}`,
  );
  return sideList('Guides', html`${lists}`);
}

/** The guides by group. */
function groups(): readonly (readonly [string, readonly Guide[]])[] {
  const { guides } = builtGuides();
  const names = [...new Set(guides.map(({ group }) => group))];
  return names.map((name) => [name, guides.filter(({ group }) => group === name)]);
}
