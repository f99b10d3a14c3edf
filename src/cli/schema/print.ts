import { print as printDocument } from 'graphql';
import { keySdl } from '../../graphql';
import { publishedSchemas } from '../../gateway/schemas';
import { collections } from '../../resources';
import { published } from '../../schema/model';
import type { JsonOption } from '../help';
import { print, printJson } from '../terminal';

/** `scopegate schema` and `scopegate schema print`. */
export function schemaCommand({
  stored,
  directives,
  json,
}: JsonOption & { readonly stored?: true; readonly directives?: true }): Promise<void> {
  if (stored) {
    const schemas = Object.fromEntries(collections.map(({ name, schema }) => [name, schema]));
    print(JSON.stringify(schemas, undefined, 2));
  } else {
    const text = directives ? `${printDocument(published.document)}\n` : typesOnly();
    if (json) printJson({ schema: text });
    else print(text.trimEnd());
  }
  return Promise.resolve();
}

/** The schema as keys see it. */
function typesOnly(): string {
  const { graphql, operations } = publishedSchemas();
  return keySdl(graphql, operations);
}
