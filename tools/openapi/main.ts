import { loadDocument } from '../../src/schema/sdl';
import { buildOpenApi } from './index';

/* npm run openapi: prints the OpenAPI document, for openapi.json, which the gateway serves. */
process.stdout.write(`${JSON.stringify(buildOpenApi(loadDocument()), undefined, 2)}\n`);
