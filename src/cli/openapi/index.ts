import type { Command } from 'commander';
import { teach } from '../common/help';
import { print } from '../common/terminal';

export function addOpenapi(program: Command): void {
  const command = program
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the REST API; needs no database')
    .option('--json', 'the same, since the document is JSON')
    .action(async () => {
      const { openApiDocument } = await import('../../published.js');
      print(JSON.stringify(openApiDocument(), undefined, 2));
    });
  teach(command, ['scopegate openapi > openapi.json', 'npx openapi-typescript openapi.json -o api.d.ts']);
}
