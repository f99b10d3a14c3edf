import { buildOpenApi } from '../openapi';
import { lint } from '.';

/* npm run check: checks the schema as the start does, and lints it. Needs no database. */

/** What is wrong, a line each. What is loaded here reads the SDL, and may fail already. */
async function errors(): Promise<string> {
  try {
    const { publishedResolvers, publishedSchemas } = await import('../../src/published.js');
    const { collections } = await import('../../src/resources/index.js');
    const { published } = await import('../../src/schema/model.js');
    publishedSchemas();
    // its examples are part of a resource
    buildOpenApi(published);
    return lint(published, publishedResolvers(), collections).join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}

void errors().then((found) => {
  if (found === '') return;
  process.stderr.write(`${found}\n`);
  process.exitCode = 1;
});
