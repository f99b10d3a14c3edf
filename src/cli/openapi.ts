import type { ExplainedCommand } from './common/help';
import { print } from './common/terminal';

export function addOpenapi(program: ExplainedCommand): void {
  program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the REST API; no database needed')
    .option('--json', 'accepted for consistency; the document is JSON anyway')
    .examples(['scopegate openapi > openapi.json', 'npx openapi-typescript openapi.json -o api.d.ts'])
    .action(async () => {
      const { openApiDocument } = await import('../rest/routes.js');
      const { readConfig } = await import('../config/index.js');
      print(JSON.stringify(openApiDocument(readConfig().PUBLIC_URL), undefined, 2));
    });
}
