import { operatorModel, published } from '../../src/schema/model';
import { buildOpenApi, OPERATOR_API } from './index';

/* npm run openapi: prints an OpenAPI document, for openapi.json or, with the argument operator, openapi.operator.json; the gateway serves both. */
const document = process.argv[2] === 'operator' ? buildOpenApi(operatorModel(), OPERATOR_API) : buildOpenApi(published);
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
