import { type ASTNode, type DefinitionNode, Kind, type NameNode, print } from 'graphql';
import { directiveOf, isListType, type ObjectNode } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { errorsAt, placeOf, type SchemaError } from '../checks/errors';
import type { SchemaModel } from '../model';
import { typesIn } from '../storedTypes';

/*
 * What the user's folder (SCHEMA_DIR) may define and extend: no built-in type or member is redefined, and rows and files from before keep their
 * meaning.
 */

interface Named {
  readonly name: NameNode;
}

/** Finds what the folder must not define or extend. `ours` is the model of the built-in files alone. */
export function extensionErrors(ours: SchemaModel, ownDefinitions: readonly DefinitionNode[]): SchemaError[] {
  const defined = new Map<string, ASTNode>();
  for (const node of ours.document.definitions) if (isDefinition(node)) defined.set(node.name.value, node);
  const builtIn: BuiltIn = {
    ours,
    known: knownTypes(ours),
    elements: new Set(ours.upserts.map(({ element }) => element)),
  };
  return ownDefinitions.flatMap((node) => {
    if (isExtension(node)) return [...nameErrors(node), ...extensionErrorsOf(builtIn, node)];
    if (!isDefinition(node) || !DEFINABLE.includes(node.kind))
      return errorsAt(
        node,
        `a folder of your own has types, inputs, enums and extensions only: remove this ${wordOf(node)}`,
      );
    const { value: name } = node.name;
    const other = defined.get(name);
    const isBuiltIn = other !== undefined && !ownDefinitions.includes(other as DefinitionNode);
    defined.set(name, node);
    return [
      ...errorsAt(
        node,
        other &&
          `${name} is also defined at ${placeText(other, isBuiltIn)}: rename yours, or write extend to add to it`,
      ),
      ...nameErrors(node),
    ];
  });
}

/** What a folder may define. */
const DEFINABLE: readonly string[] = [
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
];

type Definition = DefinitionNode & Named;

function isDefinition(node: DefinitionNode): node is Definition {
  return /(TypeDefinition|DirectiveDefinition)$/.test(node.kind);
}

function isExtension(node: DefinitionNode): node is Definition {
  return node.kind.endsWith('Extension') && 'name' in node;
}

/** `DirectiveDefinition` → `directive definition`. */
const wordOf = ({ kind }: DefinitionNode): string => kind.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();

const placeText = (node: ASTNode, isBuiltIn: boolean): string =>
  (placeOf(node).replace(/: $/, '') || 'another place') + (isBuiltIn ? ' of Scopegate' : '');

/** What an extension is checked against: the built-in files alone. */
interface BuiltIn {
  readonly ours: SchemaModel;
  readonly known: Known;
  /** The input types of elements of bulk calls. */
  readonly elements: ReadonlySet<string>;
}

/** The built-in types that may be extended: stored objects, or what they consist of, rows of totals, and enums that are stored or scopes. */
interface Known {
  readonly stored: ReadonlySet<string>;
  readonly totals: ReadonlySet<string>;
  readonly enums: ReadonlySet<string>;
}

function knownTypes(ours: SchemaModel): Known {
  const all = [...ours.stored.values()];
  const inner = all.flatMap(({ type, members }) => [type, ...members.flatMap(typesIn)]);
  const totals = ours.roots.flatMap(({ field }) =>
    directiveOf(field, 'totals') ? (ours.rowTypeOf(namedType(field.type)) ?? []) : [],
  );
  const isEnum = (type: string): boolean => ours.enumValuesOf(type).length > 0;
  return {
    stored: new Set(inner.filter((type) => ours.fieldsOf(type).length > 0)),
    totals: new Set(totals),
    enums: new Set(['Scope', ...inner.filter(isEnum)]),
  };
}

function extensionErrorsOf(builtIn: BuiltIn, node: Definition): SchemaError[] {
  const { ours } = builtIn;
  const { value: type } = node.name;
  const isBuiltIn = ours.document.definitions.some(
    (definition) => isDefinition(definition) && definition.name.value === type,
  );
  if (node.kind === Kind.OBJECT_TYPE_EXTENSION) {
    const collisions = duplicateErrors(node, type, ours.fieldsOf(type), node.fields ?? []);
    if (['Query', 'Mutation', 'Subscription'].includes(type) || !isBuiltIn) return collisions;
    return [...collisions, ...objectErrors(builtIn, node, type)];
  }
  if (node.kind === Kind.INPUT_OBJECT_TYPE_EXTENSION) {
    const isElement = !isBuiltIn || builtIn.elements.has(type);
    return [
      ...duplicateErrors(node, type, ours.inputFieldsOf(type), node.fields ?? []),
      ...errorsAt(
        node,
        !isElement &&
          `${type} cannot be extended: only elements of bulk calls can, ${[...builtIn.elements].join(' and ')}`,
      ),
      ...(node.fields ?? []).flatMap((field) => {
        const { required, not_null: isNeededToCreate } = directiveOf(field, 'constraint') ?? {};
        const place = `${type}.${field.name.value}`;
        return errorsAt(
          field,
          isBuiltIn &&
            field.type.kind === Kind.NON_NULL_TYPE &&
            `${place} would be required of all who call today: remove the !`,
          isBuiltIn && required === true && `${place} would be required of all who call today: remove required: true`,
          isBuiltIn &&
            isNeededToCreate === true &&
            `${place} would be required of all who create objects today: remove not_null: true`,
        );
      }),
    ];
  }
  if (node.kind === Kind.ENUM_TYPE_EXTENSION) {
    const isOpen = !isBuiltIn || builtIn.known.enums.has(type);
    return [
      ...duplicateErrors(node, type, ours.enumValuesOf(type), node.values ?? []),
      ...errorsAt(node, !isOpen && `enum ${type} is the gateway's own and cannot be extended: remove its extension`),
    ];
  }
  return errorsAt(node, `extensions are of types, inputs and enums: remove this ${wordOf(node)}`);
}

function objectErrors({ known }: BuiltIn, node: ObjectNode, type: string): SchemaError[] {
  if (known.totals.has(type)) return [];
  if (!known.stored.has(type))
    return errorsAt(node, `${type} is not stored, so nothing would give what you add: extend a type with @stored`);
  return (node.fields ?? []).flatMap((field) => {
    const place = `${type}.${field.name.value}`;
    // stored objects lack new members; `etag` is worked out from what they have
    const isRequired = field.type.kind === Kind.NON_NULL_TYPE && field.name.value !== 'etag';
    const other = print(field.type).replace(/!$/, '');
    return errorsAt(
      field,
      isRequired && `${place} is ${print(field.type)}, but what is stored already lacks it: write ${other}`,
    );
  });
}

/** Finds members that the built-in type has, too. */
function duplicateErrors(
  node: Definition,
  type: string,
  ours: readonly (ASTNode & Named)[],
  ownNodes: readonly (ASTNode & Named)[],
): SchemaError[] {
  return ownNodes.flatMap((definition) => {
    const other = ours.find(({ name }) => name.value === definition.name.value);
    return errorsAt(
      definition,
      other && `${type}.${definition.name.value} is also defined at ${placeText(other, true)}: rename yours`,
    );
  });
}

/** Names of members: in the database, in JSON and in the languages of clients. */
const MEMBER = /^[a-z][a-z0-9_]*$/;
const LONGEST_NAME = 64;

function nameErrors(node: Definition): SchemaError[] {
  const { value: type } = node.name;
  const fields = 'fields' in node ? (node.fields ?? []) : [];
  return [
    ...errorsAt(
      node,
      (!/^[A-Z][A-Za-z0-9]*$/.test(type) || type.length > LONGEST_NAME) &&
        `${type} is no name of a type: write one like CustomerOrder`,
    ),
    ...storedErrors(node),
    // an extension would lose them when it is merged into its type (sdl/own.ts)
    ...('interfaces' in node ? (node.interfaces ?? []) : []).flatMap((shape) =>
      errorsAt(shape, `${type} implements ${shape.name.value}, but there are no interfaces: remove it`),
    ),
    ...fields.flatMap((field) => {
      const { value: name } = field.name;
      const place = `${type}.${name}`;
      return errorsAt(
        field,
        (!MEMBER.test(name) || name.length > LONGEST_NAME) &&
          `${place} is no name of a member: write one like project_code, at most ${String(LONGEST_NAME)} characters`,
        // such as constructor, a member of every JavaScript object
        name in {} && `${place} has a name that the gateway uses itself: choose another`,
        ...filterErrors(place, field),
      );
    }),
  ];
}

/** Finds collections with names that MongoDB or files refuse. */
function storedErrors(node: Definition): SchemaError[] {
  const { collection } = directiveOf(node as ObjectNode, 'stored') ?? {};
  const isName = collection === undefined || /^[a-z][a-z0-9_]{0,39}$/.test(collection);
  return errorsAt(
    node,
    !isName &&
      `${node.name.value} has @stored(collection: "${collection}"): write lower-case words joined by _, at most 40 characters`,
  );
}

/** Finds @filter with arguments on a member, which decides how it is compared by its type. */
function filterErrors(place: string, field: ASTNode): unknown[] {
  if (field.kind !== Kind.FIELD_DEFINITION) return [];
  const directive = field.directives?.find(({ name }) => name.value === 'filter');
  return [
    directive?.arguments?.length &&
      `${place} has @filter with arguments, which only arguments of lists have: write @filter`,
    directive &&
      isListType(field.type) &&
      `${place} is a list, so it needs its filter as an argument of the list: remove @filter`,
  ];
}
