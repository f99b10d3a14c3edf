import { keyDocument, operatorDocument } from '../src/openapi';

/* npm run openapi: prints an OpenAPI document, for openapi.json or, with the argument operator, openapi.operator.json; the gateway serves both. */
const document = process.argv[2] === 'operator' ? operatorDocument() : keyDocument();
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
