/* The OpenAPI document as the page shows it. */

/**
 * Swagger UI prefills each field with its example, and all filters together match nothing. So the examples of optional
 * parameters are moved into their descriptions. Links between operations are for programs.
 */
export function readable(document) {
  const shown = structuredClone(document);
  for (const operation of Object.values(shown.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters ?? []) moveExample(parameter);
    for (const response of Object.values(operation.responses)) delete response.links;
  }
  return shown;
}

function moveExample(parameter) {
  if (parameter.required || parameter.example === undefined || parameter.schema?.default !== undefined) return;
  parameter.description = `${parameter.description ?? ''} Example: \`${parameter.example}\``;
  delete parameter.example;
}
