import { type DocumentNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { filterOf } from '../filters';
import { type FieldPlace, type InputPlace, placesOf } from './places';
import { directiveOf, isListType, namedType, pageOf } from '../sdl';
import { sentences } from './sentences';

/* Finds filters and bulk calls where they have no effect, and what a bulk call takes from others. */

/** One message per gap, with what to change where. */
export function argumentGaps(document: DocumentNode): string[] {
  const inputs = inputFields(document);
  const args = placesOf(document).inputs.flatMap(({ of, ...place }) => (of ? [{ ...place, of }] : []));
  return [
    ...args.flatMap((place) => [...filterGaps(place), ...elementGaps(place, inputs)].map((gap) => place.name + gap)),
    ...sharedTypes(args, inputs),
  ];
}

type ArgumentPlace = InputPlace & { readonly of: FieldPlace };
type Inputs = ReadonlyMap<string, readonly InputValueDefinitionNode[]>;

/** The fields of input types, including those of their extensions. */
function inputFields({ definitions }: DocumentNode): Inputs {
  const found = new Map<string, InputValueDefinitionNode[]>();
  for (const node of definitions) {
    if (node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION && node.kind !== Kind.INPUT_OBJECT_TYPE_EXTENSION) continue;
    found.set(node.name.value, [...(found.get(node.name.value) ?? []), ...(node.fields ?? [])]);
  }
  return found;
}

function filterGaps({ node, of }: ArgumentPlace): string[] {
  const filter = filterOf(node);
  if (!filter) return [];
  const isList = of.kind === 'query' && pageOf(of.node) !== undefined;
  const isForKeys = directiveOf(of.node, 'access')?.role === undefined;
  const isNamed = directiveOf(node, 'filter')?.member !== undefined;
  return sentences(
    // totals say what they take, and so do nested lists
    !(isList && isForKeys) &&
      !directiveOf(of.node, 'totals') &&
      (of.kind !== 'member' || pageOf(of.node) === undefined) &&
      ' has @filter, which is for arguments of lists that keys read: remove it',
    filter.by === 'WORDS' && isNamed && ' searches all members that are @searchable: remove member from its @filter',
  );
}

function elementGaps({ node, of }: ArgumentPlace, inputs: Inputs): string[] {
  if (!directiveOf(node, 'per_element')) return [];
  const { type } = node;
  const isRight = type.kind === Kind.NON_NULL_TYPE && isListType(type) && inputs.has(namedType(type));
  return sentences(
    of.kind !== 'mutation' && ' has @per_element, which is for arguments of Mutation: remove it',
    of.kind === 'mutation' &&
      !isRight &&
      ` has @per_element but is ${print(type)}: its elements are objects, as [${inputs.has(namedType(type)) ? namedType(type) : 'Input'}!]!`,
  );
}

/** Finds input types whose bounds nobody would check, since they are those of elements of a bulk call too. */
function sharedTypes(args: readonly ArgumentPlace[], inputs: Inputs): string[] {
  const inElements = new Map<string, string>();
  for (const { name, node } of args.filter((place) => directiveOf(place.node, 'per_element'))) {
    for (const type of typesIn(namedType(node.type), inputs)) inElements.set(type, name);
  }
  return args
    .filter(({ node }) => !directiveOf(node, 'per_element'))
    .flatMap(({ name, node }) =>
      typesIn(namedType(node.type), inputs)
        .filter((type) => inElements.has(type) && isBounded(inputs.get(type)))
        .map(
          (type) =>
            `${name} takes ${type}, whose @constraint is checked only in elements of ${String(inElements.get(type))}: give it an input type of its own`,
        ),
    );
}

function isBounded(fields: readonly InputValueDefinitionNode[] | undefined): boolean {
  return fields?.some((field) => directiveOf(field, 'constraint')) ?? false;
}

/** The input types in a type, with itself. */
function typesIn(type: string, inputs: Inputs, found: string[] = []): string[] {
  const fields = inputs.get(type);
  if (!fields || found.includes(type)) return found;
  found.push(type);
  for (const field of fields) typesIn(namedType(field.type), inputs, found);
  return found;
}
