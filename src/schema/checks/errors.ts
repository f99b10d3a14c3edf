import {
  type ASTNode,
  type DocumentNode,
  type FieldDefinitionNode,
  getLocation,
  type GraphQLError,
  Kind,
} from 'graphql';
import { didYouMean } from 'graphql/jsutils/didYouMean';
import { suggestionList } from 'graphql/jsutils/suggestionList';
import { operatorModel, published, SchemaModel } from '../model';
import { readOperatorDocument } from '../operatorDocument';
import { MEMBER_SCALARS } from '../storedTypes';
import { readDocument } from '../../sdl/files';
import type { Sdl } from '../sdl';

/** Whether a field has a resolver. */
export type IsResolved = (type: string, field: string) => boolean;

/** A schema to check, and what is known of its resolvers. */
export interface Checked {
  readonly sdl: SchemaModel;
  readonly isResolved: IsResolved;
  /** What to say of a field that has none. */
  readonly unresolved: (place: string, field: FieldDefinitionNode) => string;
}

/** A schema error: a sentence that says what to write, and its node in the SDL, unless it is about a table in the code. */
export interface SchemaError {
  readonly node?: ASTNode | undefined;
  readonly text: string;
}

/** Where an object type is defined. */
export function nodeOf({ document }: Sdl, type: string): ASTNode | undefined {
  return document.definitions.find((node) => node.kind === Kind.OBJECT_TYPE_DEFINITION && node.name.value === type);
}

/** An error for each text. Other values are what `condition && text` gives if the condition does not hold, and are passed over. */
export function errorsAt(node: ASTNode | undefined, ...texts: readonly unknown[]): SchemaError[] {
  return texts.filter((text) => typeof text === 'string').map((text) => ({ node, text }));
}

/** The errors of graphql-js, with the names that misspelt directives resemble, and the scalars if nothing resembles a type. */
export function errorsOf(document: DocumentNode, errors: readonly GraphQLError[]): SchemaError[] {
  const directives = document.definitions.flatMap((node) =>
    node.kind === Kind.DIRECTIVE_DEFINITION ? [`@${node.name.value}`] : [],
  );
  return errors.map(({ message, nodes }) => {
    if (/^Unknown type "\w+"\.$/.test(message))
      return { node: nodes?.[0], text: `${message} Scalars are ${MEMBER_SCALARS.join(', ')}.` };
    const [, unknown] = /^Unknown directive "(@\w+)"/.exec(message) ?? [];
    const nearest = unknown === undefined ? '' : didYouMean(suggestionList(unknown, directives));
    return { node: nodes?.[0], text: message + nearest };
  });
}

/**
 * The errors of a schema, one a line: `schema/quotes.graphql:12: Query.quotes has no resolver`. If there are any, `errorsIn` is called again, with
 * the same schema read with locations; of a schema that was read from no file the lines have no place.
 */
export function linesOf(sdl: SchemaModel, errorsIn: (sdl: SchemaModel) => readonly SchemaError[]): string[] {
  if (errorsIn(sdl).length === 0) return [];
  // locations take memory, and only errors need them
  const read = sdl === published ? readDocument : sdl === operatorModel() ? readOperatorDocument : undefined;
  const located = read ? new SchemaModel(read()) : sdl;
  return linesFrom(errorsIn(located));
}

/** Errors with the place of their nodes, one a line. */
export function linesFrom(errors: readonly SchemaError[]): string[] {
  const lines = new Map<string, string>();
  // the same text about many places is one error, at the first
  for (const { node, text } of errors) if (!lines.has(text)) lines.set(text, placeOf(node) + text);
  return [...lines.values()];
}

/** The file and line of a node, as a line begins: `schema/quotes.graphql:12: `. */
export function placeOf(node: ASTNode | undefined): string {
  if (!node?.loc) return '';
  const { source, start } = node.loc;
  return `${source.name}:${String(getLocation(source, start).line)}: `;
}
