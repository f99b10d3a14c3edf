import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../src/config';
import { restOperations } from '../src/rest/routes';
import { publishedSchemas } from '../src/gateway/schemas';
import { alertSections, PROMETHEUS_RULE, prometheusRule } from './alerts';
import { writeChart } from './chart';
import { ROOT } from './facts';
import { storedCollections } from './storedRows';

/* npm run docs: updates the generated parts of the documentation, the manifest that is made from the alert rules, and the Helm chart. */

/** The pages with a generated part, between two comments `<!-- name -->` and `<!-- /name -->`, its name, and the function that writes it. */
export const GENERATED: readonly (readonly [page: string, name: string, write: () => string])[] = [
  ['README.md', 'operations', () => String(restOperations(publishedSchemas().operations).length)],
  ['README.md', 'attachments', () => String(attachmentRoutes())],
  ['docs/configuration.md', 'environment', environmentTable],
  ['docs/stored.md', 'collections', storedCollections],
  ['docs/guides/alerts.md', 'alerts', alertSections],
];

/** Returns the text of a page with its generated part up to date. */
export function generated(page: string, name: string, write: () => string): string {
  const marked = new RegExp(`(<!-- ${name}\\b.*?-->)[\\s\\S]*?(<!-- /${name} -->)`);
  const text = readFileSync(join(ROOT, page), 'utf8');
  if (!marked.test(text)) throw new Error(`${page} has no <!-- ${name} --> marker`);
  return text.replace(marked, (_all, start: string, end: string) => start + write() + end);
}

/** How many routes the OpenAPI document has beside the operations: those of attachments, which no operation of the schema has. */
function attachmentRoutes(): number {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as { readonly paths: object };
  const routes = Object.values(paths).flatMap((methods: object) => Object.keys(methods));
  return routes.length - restOperations(publishedSchemas().operations).length;
}

function environmentTable(): string {
  const rows = describeVariables().map(
    ({ name, fallback, help }) => `| \`${name}\` | ${fallback} | ${help.replaceAll('|', '\\|')} |`,
  );
  return ['\n', '| variable | default | |', '|---|---|---|', ...rows, '\n'].join('\n').replace('\n\n\n', '\n\n');
}

if (require.main === module) {
  for (const part of GENERATED) writeFileSync(join(ROOT, part[0]), generated(...part));
  writeFileSync(join(ROOT, PROMETHEUS_RULE), prometheusRule());
  writeChart();
}
