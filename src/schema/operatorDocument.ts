import { type DefinitionNode, type DocumentNode, Kind, type ParseOptions, visit } from 'graphql';
import { loadDocument, OPERATOR_FILE, parseFile, readDocument } from '../sdl/files';
import { isRootType } from './sdl';

/**
 * The SDL of the operator API: schema/operator.graphql, the directives, and the types of other files that these refer to. It is a separate
 * schema, so that no key sees its types and it exposes none of an organisation's data (docs/decisions/operator-api.md).
 */
export function readOperatorDocument(options: ParseOptions = {}): DocumentNode {
  const own = parseFile(OPERATOR_FILE, options).definitions;
  const given = new Set(own.flatMap((node) => (isExtension(node) ? [] : [nameOf(node)])));
  // without locations, the document has been read already
  const rest = options.noLocation === true ? loadDocument() : readDocument(options);
  const others = rest.definitions.filter((node) => !isExtension(node) && !given.has(nameOf(node)));
  const byName = new Map(others.map((node) => [nameOf(node), node]));
  const kept = new Set(others.filter((node) => node.kind === Kind.DIRECTIVE_DEFINITION || isRootType(nameOf(node))));
  const reach = (node: DefinitionNode): void => {
    visit(node, {
      NamedType: ({ name }) => {
        const reached = byName.get(name.value);
        if (!reached || kept.has(reached)) return;
        kept.add(reached);
        reach(reached);
      },
    });
  };
  for (const node of [...own, ...kept]) reach(node);
  return { kind: Kind.DOCUMENT, definitions: [...others.filter((node) => kept.has(node)), ...own] };
}

const isExtension = ({ kind }: DefinitionNode): boolean => kind.endsWith('Extension');

function nameOf(node: DefinitionNode): string {
  return 'name' in node ? node.name.value : '';
}
