import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type {
  DefinitionNode,
  DocumentNode,
  EnumTypeDefinitionNode,
  InputObjectTypeDefinitionNode,
  ObjectTypeDefinitionNode,
} from 'graphql';
import { Kind } from 'graphql/language/kinds';
import { parse, type ParseOptions } from 'graphql/language/parser';
import { Source } from 'graphql/language/source';
import { withAddedArguments } from './addedArguments';
import { nameOf, ROOTS } from './nodes';
import { readFault } from './readFault';

/* The schema of the own folder (docs/decisions/own-schema.md): its files, and the document that they make with ours. */

/** Maximum bytes of all files together: a hundred times those of the built-in files. */
const MOST_BYTES = 16 * 1024 * 1024;

/** What a folder may have: any other name, such as rules.js, is an error, since the file would have no effect. */
const KNOWN_NAME = /^(?:\..*|.*\.graphql|.*\.md|rules\.mjs|examples)$/;
const WHAT_IS_READ = 'the folder has *.graphql, rules.mjs, examples/ and *.md';

export interface OwnDocument {
  readonly definitions: readonly DefinitionNode[];
  /** Files that cannot be read, with the line: `my-api/invoices.graphql:3: Syntax Error: …`. */
  readonly errors: readonly string[];
}

/** Reads the folder's *.graphql. Never throws: what cannot be read is in `errors`. */
export function readOwn(folder: string, options: ParseOptions): OwnDocument {
  const definitions: DefinitionNode[] = [];
  const errors: string[] = [];
  let files: string[];
  try {
    files = readdirSync(folder);
  } catch (error) {
    return { definitions, errors: [`${folder}: is not a folder that can be read (${(error as Error).message})`] };
  }
  const unknownFiles = files.filter((file) => !KNOWN_NAME.test(file));
  files = files.filter((file) => /^[^.].*\.graphql$/.test(file));
  if (files.length === 0)
    return { definitions, errors: [`${folder}: has no file *.graphql; scopegate schema init writes one`] };
  for (const file of unknownFiles) errors.push(`${join(folder, file)}: is not read: ${WHAT_IS_READ}`);
  let bytesLeft = MOST_BYTES;
  for (const file of files.toSorted()) {
    const path = join(folder, file);
    try {
      bytesLeft -= statSync(path).size;
      if (bytesLeft < 0)
        return { definitions, errors: [...errors, `${path}: the files have more than 16 MiB together`] };
      definitions.push(...parse(new Source(readFileSync(path, 'utf8'), path), options).definitions);
    } catch (error) {
      errors.push(readFault(path, error));
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

/** The built-in document with the definitions of the own folder: extensions are merged into their types, and lists have the filters of their rows' members (@filter). */
export function joinDocuments(
  ours: DocumentNode,
  { definitions: own }: Pick<OwnDocument, 'definitions'>,
): DocumentNode {
  /** Whether a node becomes part of the type that it extends. */
  const isMerged = (node: DefinitionNode): boolean =>
    EXTENDED[node.kind] !== undefined && !ROOTS.includes(nameOf(node));
  const extensions = own.filter(isMerged);
  const definitionKeys = new Set([...ours.definitions, ...own].map((node) => `${node.kind} ${nameOf(node)}`));
  /** Whether the extended type exists; otherwise the extension stays, and is an error of the check. */
  const isKnown = (node: DefinitionNode): boolean =>
    definitionKeys.has(`${String(EXTENDED[node.kind])} ${nameOf(node)}`);
  const all = [...ours.definitions, ...own.filter((node) => !isMerged(node) || !isKnown(node))].map((node) => {
    const ofNode = extensions.filter(
      (extension) => EXTENDED[extension.kind] === node.kind && nameOf(extension) === nameOf(node),
    );
    return ofNode.length === 0 ? node : withExtensions(node as Extended, ofNode as unknown as readonly Extended[]);
  });
  const addedFields = extensions.flatMap((node): readonly object[] => ('fields' in node ? (node.fields ?? []) : []));
  return { kind: Kind.DOCUMENT, definitions: withAddedArguments(all, new Set(addedFields)) };
}

function withExtensions(node: Extended, extensions: readonly Extended[]): DefinitionNode {
  const all = [node, ...extensions];
  const directives = all.flatMap((definition) => definition.directives ?? []);
  if (node.kind === Kind.ENUM_TYPE_DEFINITION) {
    const values = (all as readonly EnumTypeDefinitionNode[]).flatMap((definition) => definition.values ?? []);
    return { ...node, directives, values };
  }
  const fields = (all as readonly ObjectTypeDefinitionNode[]).flatMap((definition) => definition.fields ?? []);
  return { ...(node as ObjectTypeDefinitionNode), directives, fields };
}
