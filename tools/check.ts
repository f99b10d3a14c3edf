import { operatorModel, published } from '../src/schema/model';
import { operatorSchemas, publishedSchemas } from '../src/published';
import { buildOpenApi, OPERATOR_API } from './openapi';

/* npm run check: what a start checks, and that each operation has its examples. Needs no database. */

try {
  publishedSchemas();
  operatorSchemas();
  buildOpenApi(published);
  buildOpenApi(operatorModel(), OPERATOR_API);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
