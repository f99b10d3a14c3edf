/* The OpenAPI document as the page shows it. */

import { IDEMPOTENCY_KEY } from './request';

/**
 * Swagger UI prefills each field with its example, and all filters together match nothing. So the examples of optional
 * parameters are moved into their descriptions, and the fields have the defaults. Links between operations are for programs.
 */
export function readable(document) {
  const shown = structuredClone(document);
  // the page may call only its own gateway, whatever address others reach it by
  for (const server of shown.servers) server.url = new URL(server.url, location.href).pathname;
  for (const operation of Object.values(shown.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) moveExample(parameter);
    for (const response of Object.values(operation.responses)) delete response.links;
  }
  return shown;
}

function moveExample(parameter) {
  if (parameter.name === IDEMPOTENCY_KEY) parameter.description += ' If it is empty, each request gets a new UUID.';
  if (parameter.required || parameter.example === undefined) return;
  const { example, schema } = parameter;
  if (example !== schema?.default) parameter.description = `${parameter.description ?? ''} Example: \`${example}\``;
  delete parameter.example;
}
