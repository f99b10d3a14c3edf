import { operatorSchemas, publishedSchemas } from '../src/gateway/schemas';
import { keyDocument, operatorDocument } from '../src/openapi';

/* npm run check: what a start checks, and that each operation has its examples. Needs no database. */

try {
  publishedSchemas();
  operatorSchemas();
  keyDocument();
  operatorDocument();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
