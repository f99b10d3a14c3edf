import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type {
  DefinitionNode,
  DocumentNode,
  EnumTypeDefinitionNode,
  InputObjectTypeDefinitionNode,
  ObjectTypeDefinitionNode,
} from 'graphql';
import { GraphQLError } from 'graphql/error/GraphQLError';
import { Kind } from 'graphql/language/kinds';
import { parse, type ParseOptions } from 'graphql/language/parser';
import { Source } from 'graphql/language/source';
import { withAddedArguments } from './addedArguments';
import { nameOf, ROOTS } from './nodes';

/* The user's schema (docs/decisions/own-schema.md): its files, and the document that they make with ours. */

/** Bytes of all files together: a hundred times what ours have. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What a folder may have: a file with another name, such as rules.js, would be without effect. */
const READ = /^(?:\..*|.*\.graphql|.*\.md|rules\.mjs|examples)$/;
const WHAT_IS_READ = 'the folder has *.graphql, rules.mjs, examples/ and *.md';

export interface OwnDocument {
  readonly definitions: readonly DefinitionNode[];
  /** Files that cannot be read, with the line: `my-api/invoices.graphql:3: Syntax Error: …`. */
  readonly errors: readonly string[];
}

/** Reads the folder's *.graphql. */
export function readOwn(folder: string, options: ParseOptions): OwnDocument {
  const definitions: DefinitionNode[] = [];
  const errors: string[] = [];
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch (error) {
    return { definitions, errors: [`${folder}: is not a folder that can be read (${(error as Error).message})`] };
  }
  const others = files.filter((file) => !READ.test(file));
  files = files.filter((file) => /^[^.].*\.graphql$/.test(file));
  if (files.length === 0)
    return { definitions, errors: [`${folder}: has no file *.graphql; scopegate schema init writes one`] };
  for (const file of others) errors.push(`${join(folder, file)}: is not read: ${WHAT_IS_READ}`);
  let left = MOST_BYTES;
  for (const file of files.toSorted()) {
    const path = join(folder, file);
    left -= statSync(path).size;
    if (left < 0) return { definitions, errors: [...errors, `${path}: the files have more than 16 MiB together`] };
    try {
      definitions.push(...parse(new Source(readFileSync(path, 'utf8'), path), options).definitions);
    } catch (error) {
      const line = error instanceof GraphQLError ? error.locations?.[0]?.line : undefined;
      errors.push(`${path}${line === undefined ? '' : `:${String(line)}`}: ${(error as Error).message}`);
    }
  }
  return { definitions, errors };
}

type Extended = ObjectTypeDefinitionNode | InputObjectTypeDefinitionNode | EnumTypeDefinitionNode;

const EXTENDED: Readonly<Record<string, Kind>> = {
  [Kind.OBJECT_TYPE_EXTENSION]: Kind.OBJECT_TYPE_DEFINITION,
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: Kind.INPUT_OBJECT_TYPE_DEFINITION,
  [Kind.ENUM_TYPE_EXTENSION]: Kind.ENUM_TYPE_DEFINITION,
};

/** Our document with that of the user: extensions are in what they extend, and lists have the filters of their rows' members. */
export function joined(ours: DocumentNode, { definitions: own }: Pick<OwnDocument, 'definitions'>): DocumentNode {
  const isFolded = (node: DefinitionNode): boolean =>
    EXTENDED[node.kind] !== undefined && !ROOTS.includes(nameOf(node));
  const extensions = own.filter(isFolded);
  const definitionKeys = new Set([...ours.definitions, ...own].map((node) => `${node.kind} ${nameOf(node)}`));
  // one of a type that is not there stays, and is an error
  const isKnown = (node: DefinitionNode): boolean =>
    definitionKeys.has(`${String(EXTENDED[node.kind])} ${nameOf(node)}`);
  const all = [...ours.definitions, ...own.filter((node) => !isFolded(node) || !isKnown(node))].map((node) => {
    const some = extensions.filter(
      (extension) => EXTENDED[extension.kind] === node.kind && nameOf(extension) === nameOf(node),
    );
    return some.length === 0 ? node : extended(node as Extended, some as unknown as readonly Extended[]);
  });
  const inputs = extensions.flatMap((node): readonly object[] => ('fields' in node ? (node.fields ?? []) : []));
  return { kind: Kind.DOCUMENT, definitions: withAddedArguments(all, new Set(inputs)) };
}

function extended(node: Extended, extensions: readonly Extended[]): DefinitionNode {
  const all = [node, ...extensions];
  const directives = all.flatMap((definition) => definition.directives ?? []);
  if (node.kind === Kind.ENUM_TYPE_DEFINITION) {
    const values = (all as readonly EnumTypeDefinitionNode[]).flatMap((definition) => definition.values ?? []);
    return { ...node, directives, values };
  }
  const fields = (all as readonly ObjectTypeDefinitionNode[]).flatMap((definition) => definition.fields ?? []);
  return { ...(node as ObjectTypeDefinitionNode), directives, fields };
}
