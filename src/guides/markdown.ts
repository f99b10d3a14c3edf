import { ORIGIN } from '../pages/code';
import type { Visit } from '../pages/page';
import type { Site } from '../pages/site';
import { addressOf, builtGuides, type Guide, GUIDES } from './built';

/** A link to a guide, whose address has no ending such as .mjs, which those of programs have. */
const GUIDE_LINK = new RegExp(String.raw`\]\((${GUIDES}/[\w/-]+)(?=[#)])`, 'g');
/** The beginning of a link to a guide or a program. */
const LINK_START = new RegExp(String.raw`\]\((?=${GUIDES}/)`, 'g');

/** A guide as Markdown: its links lead to Markdown, and its requests go to this gateway as far as its address is known. */
export function markdownOf({ markdown }: Guide, publicUrl: string | undefined): string {
  const linked = markdown.replaceAll(GUIDE_LINK, ']($1.md').replaceAll(LINK_START, `](${publicUrl ?? ''}`);
  return publicUrl === undefined ? linked : linked.replaceAll(ORIGIN, publicUrl);
}

/** What the text begins with, unless the operator's own description (BRAND_DESCRIPTION) takes its place. */
const USUAL_DESCRIPTION =
  "An organisation's quotes, products, orders, customers and request threads over REST, GraphQL and MCP:";

/** `/llms.txt` (llmstxt.org): what there is for a language model to read. */
export function llmsText(
  introspection: Visit['introspection'],
  { name, description }: Pick<Site, 'name' | 'description'>,
  publicUrl = '',
): string {
  const link = (title: string, path: string, about: string): string => `- [${title}](${publicUrl}${path}): ${about}`;
  const { guides } = builtGuides();
  const section = (...groups: string[]): string[] =>
    guides
      .filter(({ group }) => groups.includes(group))
      .map((guide) => link(guide.title, `${addressOf(guide)}.md`, guide.about));
  return [
    `# ${name}`,
    '',
    `> ${description === undefined ? USUAL_DESCRIPTION : `${description} REST, GraphQL and MCP have`} the same operations, scopes, limits and error codes in each. Send an API key as \`Authorization: Bearer …\`.`,
    '',
    '## Guides',
    '',
    ...section('Start', 'Connect'),
    '',
    '## Reference',
    '',
    link('OpenAPI 3.1 document', '/api/v1/openapi.json', 'every REST operation with parameters, answers and errors'),
    ...(introspection === 'public'
      ? [link('GraphQL schema', '/graphql/schema.graphql', 'every GraphQL operation and type as SDL')]
      : []),
    link('Errors', '/errors', 'every error code: what it means, and whether to retry'),
    link('REST reference', '/api/v1/docs', 'a page for each operation, with samples'),
    '',
    '## Jobs',
    '',
    ...section('Jobs'),
    '',
  ].join('\n');
}
