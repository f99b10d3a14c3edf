import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DefinitionNode, DocumentNode } from 'graphql';
import { Kind } from 'graphql/language/kinds';
import { parse, type ParseOptions } from 'graphql/language/parser';
import { Source } from 'graphql/language/source';
import { concatAST } from 'graphql/utilities/concatAST';
import { ROOT } from '../package';
import { ADMIN_FILE, usersPart } from './admin';
import { ownFolder, ownPath } from './folder';
import { nameOf } from './nodes';
import { joinDocuments, readOwn } from './own';
import { readFault } from './readFault';

/* Reads the files of the schema: the *.graphql of schema/, and those of the own folder, if there is one (folder.ts). */

const SCHEMA_FOLDER = join(ROOT, 'schema');

/** What {@link loadDocument} returns, and what the own folder defines, once they are read. */
let loaded: DocumentNode | undefined;
let own: readonly DefinitionNode[] | undefined;

/** schema/*.graphql without what only operators do, with the own folder if there is one; read once. */
export function loadDocument(): DocumentNode {
  return (loaded ??= readDocument({ noLocation: true }));
}

/** Reads the same files, the own folder's again if with locations, which only messages need; by default with the location of each node. @throws Error that names the file and line of a syntax error */
export function readDocument(options: ParseOptions = {}): DocumentNode {
  const ours = readOurs(options);
  const definitions = options.noLocation === true ? ownDefinitions() : readOwnDefinitions(options);
  return definitions.length === 0 ? ours : joinDocuments(ours, { definitions });
}

/** Reads schema/*.graphql without the own folder and what only operators do (schema/operatorDocument.ts). */
export function readOurs(options: ParseOptions = {}): DocumentNode {
  const files = readdirSync(SCHEMA_FOLDER)
    .filter((file) => file.endsWith('.graphql'))
    .toSorted();
  return concatAST(
    files.map((file) => {
      const document = parseFile(file, options);
      return file === ADMIN_FILE ? { ...document, definitions: usersPart(document.definitions) } : document;
    }),
  );
}

/** Parses a file of schema/. @throws Error that names the file and line of a syntax error */
export function parseFile(file: string, options: ParseOptions): DocumentNode {
  const text = readFileSync(join(SCHEMA_FOLDER, file), 'utf8');
  try {
    return parse(new Source(text, `schema/${file}`), options);
  } catch (error) {
    throw new Error(readFault(`schema/${file}`, error), { cause: error });
  }
}

/** The file with an example of a collection's objects: that of the own folder, or ours. */
export function exampleFile(collection: string): string {
  const ownFile = ownPath('examples', `${collection}.json`);
  return ownFile !== undefined && existsSync(ownFile) ? ownFile : join(SCHEMA_FOLDER, 'examples', `${collection}.json`);
}

/** What the own folder has; nothing without one. Read once, since files may be put there meanwhile. @throws Error that names what cannot be read, by file and line */
export function ownDefinitions(): readonly DefinitionNode[] {
  return (own ??= readOwnDefinitions({ noLocation: true }));
}

function readOwnDefinitions(options: ParseOptions): readonly DefinitionNode[] {
  const folder = ownFolder();
  if (folder === undefined) return [];
  const { definitions, errors } = readOwn(folder, options);
  if (errors.length > 0) throw new Error(['invalid schema:', ...errors].join('\n'));
  return definitions;
}

/** The nullable members of types that the own folder adds (and fields of Query, which no caller asks for), as `OrderLine.weight`: what was stored or exported before they were added lacks them. */
export function addedMembers(): ReadonlySet<string> {
  return new Set(
    ownDefinitions().flatMap((node) => {
      const fields = 'fields' in node ? (node.fields ?? []) : [];
      return fields.flatMap(({ name, type }) =>
        type.kind === Kind.NON_NULL_TYPE ? [] : `${nameOf(node)}.${name.value}`,
      );
    }),
  );
}
