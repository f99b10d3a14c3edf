import type { Command } from 'commander';
import { addExamples } from '../common/help';
import { print } from '../common/terminal';

export function addOpenapi(program: Command): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the REST API; no database needed')
    .option('--json', 'accepted for consistency; the document is JSON anyway')
    .action(async () => {
      const { openApiDocument } = await import('../../published.js');
      print(JSON.stringify(openApiDocument(), undefined, 2));
    });
  addExamples(command, ['scopegate openapi > openapi.json', 'npx openapi-typescript openapi.json -o api.d.ts']);
}
