import { type DocumentNode, Kind, type ParseOptions } from 'graphql';
import { ADMIN_FILE, isExtension, operatorsPart, referredTypes } from '../sdl/admin';
import { loadDocument, parseFile, readDocument } from '../sdl/files';
import { nameOf } from '../sdl/nodes';
import { isRootType } from './sdl';

/**
 * The SDL of the operator API: the operators' part of schema/admin.graphql, the directives, and the types that these refer to. It is a separate
 * schema, so that no key sees its types and it exposes none of an organisation's data (docs/decisions/operator-api.md).
 */
export function readOperatorDocument(options: ParseOptions = {}): DocumentNode {
  const { operations, types } = operatorsPart(parseFile(ADMIN_FILE, options).definitions);
  // of these types, the shared document has the users' part
  const definedNames = new Set(types.map(nameOf));
  // without locations, the document has been read already
  const shared = options.noLocation === true ? loadDocument() : readDocument(options);
  const others = shared.definitions.filter((node) => !isExtension(node) && !definedNames.has(nameOf(node)));
  const base = others.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION || isRootType(nameOf(node)));
  const all = [...others, ...types];
  const kept = new Set([...base, ...referredTypes([...operations, ...base], all)]);
  return { kind: Kind.DOCUMENT, definitions: [...all.filter((node) => kept.has(node)), ...operations] };
}
