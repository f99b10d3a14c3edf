const { existsSync, mkdirSync, readFileSync, writeFileSync } = require('node:fs');
const { dirname, extname, join, relative } = require('node:path');
const MarkdownIt = require('markdown-it');

const ROOT = join(__dirname, '..');
const FOLDER = join(ROOT, 'docs', 'guides');

/** The guides for callers in the order in which they are listed: their address below /guides, their file, and what each is about. */
const GUIDES = [
  {
    ...{ name: 'quickstart', file: 'quickstart.md', group: 'Start' },
    about: 'From a key to the first rows, a write that is safe to repeat, and what to do about errors.',
  },
  {
    ...{ name: 'api', file: 'integrators.md', group: 'Start' },
    about: 'The rules that all calls share: keys, values, money, pages, filters, retries, errors, limits and GraphQL.',
  },
  {
    ...{ name: 'other-apis', file: 'other-apis.md', group: 'Start' },
    about: 'What is the same as in other APIs that you may know, and what is not.',
  },
  job('catalogue', 'Make the products match a file: bad rows are reported, missing products deactivated.'),
  job('orders', 'Write a month of orders with their lines to CSV, exact to the cent.'),
  job('customers', 'Copy changes both ways without undoing anybody’s.'),
  job('helpdesk', 'Turn each ticket into a request thread, with every message in it once.'),
  job('dashboard', 'Show totals, and update them when they change.'),
  job('events', 'Follow events with the feed, a stream or webhooks in place of polling.'),
  {
    ...{ name: 'webhooks', file: 'receivers.md', group: 'Connect' },
    about: 'Receive events at your server, verify them, and keep a copy that misses nothing.',
  },
  {
    ...{ name: 'assistants', file: 'assistants.md', group: 'Connect' },
    about: 'Connect programs with a language model over MCP, and limit what they may do.',
  },
];

function job(name, about) {
  return { name: `jobs/${name}`, file: `jobs/${name}.md`, group: 'Jobs', about };
}

/** Where the programs that guides name are served, by their endings. */
const PROGRAMS = ['.ts', '.py'];
/** A link: no other text of the guides has its form, which the build would notice as a link to nothing. */
const LINK = /\[([^\]]+)\]\(([^)\s]+)\)/g;
/** For tests, not for readers. */
const COMMENT = /^<!-- .+ -->\n/gm;
/** The guides' gateway, which src/pages/code.ts replaces by the reader's. */
const ORIGIN = 'http://127.0.0.1:4000';

/** Writes dist/guides.json, from which src/guides serves the guides. */
function buildGuides() {
  const programs = {};
  const guides = GUIDES.map(({ file, ...guide }) => ({ ...guide, ...parsed(servedText(file, programs)) }));
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  writeFileSync(join(ROOT, 'dist', 'guides.json'), JSON.stringify({ guides, programs }));
}

/** A guide's Markdown, in which links lead to where their target is served, and are plain text if it is not. Adds the programs that it links to. */
function servedText(file, programs) {
  const source = readFileSync(join(FOLDER, file), 'utf8').replaceAll(COMMENT, '');
  return source.replaceAll(LINK, (_link, text, target) => {
    if (/^(https?:|\/|#)/.test(target)) return `[${text}](${target})`;
    const [path = '', anchor] = target.split('#');
    const absolute = join(FOLDER, dirname(file), path);
    if (!existsSync(absolute)) throw new Error(`docs/guides/${file} links to ${target}, which does not exist`);
    const guide = GUIDES.find((one) => join(FOLDER, one.file) === absolute);
    if (guide) return `[${text}](/guides/${guide.name}${anchor === undefined ? '' : `#${anchor}`})`;
    if (!PROGRAMS.includes(extname(absolute))) return text;
    const address = `${join('/guides', dirname(file))}/${relative(dirname(absolute), absolute)}`;
    programs[address] = readFileSync(absolute, 'utf8');
    return `[${text}](${address})`;
  });
}

const markdown = new MarkdownIt();
const { escapeHtml } = markdown.utils;
markdown.renderer.rules.code_inline = (tokens, at) =>
  `<code>${escapeHtml(tokens[at].content).replaceAll(ORIGIN, `<span data-origin>${ORIGIN}</span>`)}</code>`;
markdown.renderer.rules.table_open = () => '<div class="table"><table>';
markdown.renderer.rules.table_close = () => '</table></div>';

/** A guide as its title, headings and parts: HTML, or code, which the gateway highlights. */
function parsed(text) {
  const tokens = withoutEmptyHeads(markdown.parse(text, {}));
  const headings = [];
  const parts = [];
  let title = '';
  let some = [];
  const flush = () => {
    if (some.length > 0) parts.push(markdown.renderer.render(some, markdown.options, {}));
    some = [];
  };
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token.type === 'fence') {
      if (token.level > 0) throw new Error(`code within a list or quote: ${token.content}`);
      flush();
      parts.push({ language: token.info, code: token.content.trimEnd() });
    } else if (token.type === 'heading_open') {
      const inline = tokens[at + 1];
      const level = Number(token.tag.slice(1));
      const words = inline.children.map(({ content }) => content).join('');
      if (level === 1) title = words;
      else {
        const id = anchorOf(words);
        const inner = markdown.renderer.renderInline(inline.children, markdown.options, {});
        headings.push({ id, level, text: words, words: [] });
        flush();
        parts.push(`<${token.tag} id="${id}"><a href="#${id}">${inner}</a></${token.tag}>`);
      }
      at += 2;
    } else {
      some.push(token);
      addWords(headings.at(-1), token);
    }
  }
  flush();
  return {
    title,
    headings: headings.map((heading) => ({ ...heading, words: heading.words.join(' ') })),
    parts,
    markdown: text,
  };
}

/** Notes the names in code below a heading, such as those of headers and error codes, for the search. */
function addWords(heading, { children }) {
  for (const { type, content } of children ?? []) {
    const isName = type === 'code_inline' && /^[A-Za-z][\w-]{3,30}$/.test(content);
    if (heading && isName && !heading.words.includes(content)) heading.words.push(content);
  }
}

/** As GitHub makes it, so that links work in both. */
function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** Markdown wants a head for each table: one without a word is left out, and an empty cell of others is no header. */
function withoutEmptyHeads(tokens) {
  const kept = [];
  for (let at = 0; at < tokens.length; at += 1) {
    if (tokens[at].type === 'thead_open') {
      const end = tokens.findIndex(({ type }, index) => index > at && type === 'thead_close');
      if (tokens.slice(at, end).every(({ type, content }) => type !== 'inline' || content === '')) {
        at = end;
        continue;
      }
    }
    const [open, inline, close] = tokens.slice(at, at + 3);
    if (open.type === 'th_open' && inline.content === '') open.tag = close.tag = 'td';
    kept.push(tokens[at]);
  }
  return kept;
}

module.exports = { buildGuides };
