import { buildOpenApi, OPERATOR_API } from '../openapi';
import { lint } from '.';

/* npm run check: checks the schema the way the start does, and lints it. Needs no database. */

/** All errors, one per line. It imports modules itself, because they read the SDL when loaded, which may fail. */
async function errors(): Promise<string> {
  try {
    const { operatorSchemas, publishedResolvers, publishedSchemas } = await import('../../src/published.js');
    const { collections } = await import('../../src/resources/index.js');
    const { operatorResolvers } = await import('../../src/operator/resolvers.js');
    const { operatorModel, published } = await import('../../src/schema/model.js');
    publishedSchemas();
    operatorSchemas();
    // its examples are part of a resource
    buildOpenApi(published);
    buildOpenApi(operatorModel(), OPERATOR_API);
    const found = lint(published, publishedResolvers(), collections);
    return [...found, ...lint(operatorModel(), operatorResolvers, [])].join('\n');
  } catch (error) {
    return (error as Error).message;
  }
}

void errors().then((found) => {
  if (found === '') return;
  process.stderr.write(`${found}\n`);
  process.exitCode = 1;
});
