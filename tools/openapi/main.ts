import { published } from '../../src/schema/model';
import { buildOpenApi } from './index';

/* npm run openapi: prints the OpenAPI document, for openapi.json, which the gateway serves. */
process.stdout.write(`${JSON.stringify(buildOpenApi(published), undefined, 2)}\n`);
