import { type DocumentNode, parse, print, visit } from 'graphql';
import { publishedResolvers } from '../../src/gateway/schemas';
import { refuseErrors } from '../../src/schema/checks';
import { derivedFields } from '../../src/schema/derivedFields';
import { published, SchemaModel } from '../../src/schema/model';

/* The published schema with parts replaced or added, and the errors that a start reports. */

// without descriptions, whose words could match instead of fields
export const SDL = print(
  visit(published.document, {
    enter: (node) => ('description' in node ? { ...node, description: undefined } : undefined),
  }),
);
const ALL = publishedResolvers();

/** A test: the error in the SDL with `from` replaced by `to`, or with `from` added. */
export type Case = readonly [sentence: string, from: string | RegExp, to?: string];

/** The errors that the server refuses to start with; `none` if it starts. */
export function errorsOf(document: DocumentNode): string {
  const model = new SchemaModel(document);
  const isDerived = (type: string, name: string): boolean =>
    derivedFields(model).some((derivedField) => derivedField.type === type && derivedField.field.name.value === name);
  try {
    refuseErrors(model, (type, field) => ALL[type]?.[field] !== undefined || isDerived(type, field));
    return 'none';
  } catch (error) {
    return (error as Error).message;
  }
}

/** The SDL with one part replaced, which must exist, or with one added. */
export function broken([, from, to]: Case): DocumentNode {
  if (to === undefined) return parse(`${SDL}\n${String(from)}`);
  const sdl = SDL.replace(from, to);
  if (sdl === SDL) throw new Error(`the SDL does not contain ${String(from)}`);
  return parse(sdl);
}
