import { type DocumentNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { filterOf } from '../filters';
import { type FieldPlace, type InputPlace, placesOf } from './places';
import { directiveOf, inputFieldsOf, isInputObject, isListType, namedType, pageOf } from '../sdl';
import { sentences } from './sentences';

/* Finds filters and bulk calls where they have no effect, and what a bulk call takes from others. */

/** One message per gap, with what to change where. */
export function argumentGaps(document: DocumentNode): string[] {
  const args = placesOf(document).inputs.flatMap(({ of, ...place }) => (of ? [{ ...place, of }] : []));
  return [
    ...args.flatMap((place) => [...filterGaps(place), ...elementGaps(document, place)].map((gap) => place.name + gap)),
    ...sharedTypes(document, args),
  ];
}

type ArgumentPlace = InputPlace & { readonly of: FieldPlace };
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

function elementGaps(document: DocumentNode, { node, of }: ArgumentPlace): string[] {
  if (!directiveOf(node, 'per_element')) return [];
  const { type } = node;
  const isOfInputs = isInputObject(document, namedType(type));
  const isRight = type.kind === Kind.NON_NULL_TYPE && isListType(type) && isOfInputs;
  return sentences(
    of.kind !== 'mutation' && ' has @per_element, which is for arguments of Mutation: remove it',
    of.kind === 'mutation' &&
      !isRight &&
      ` has @per_element but is ${print(type)}: its elements are objects, as [${isOfInputs ? namedType(type) : 'Input'}!]!`,
  );
}

/** Finds input types whose bounds nobody would check, since they are those of elements of a bulk call too. */
function sharedTypes(document: DocumentNode, args: readonly ArgumentPlace[]): string[] {
  const inElements = new Map<string, string>();
  for (const { name, node } of args.filter((place) => directiveOf(place.node, 'per_element'))) {
    for (const type of typesIn(document, namedType(node.type))) inElements.set(type, name);
  }
  return args
    .filter(({ node }) => !directiveOf(node, 'per_element'))
    .flatMap(({ name, node }) =>
      typesIn(document, namedType(node.type))
        .filter((type) => inElements.has(type) && isBounded(inputFieldsOf(document, type)))
        .map(
          (type) =>
            `${name} takes ${type}, whose @constraint is checked only in elements of ${String(inElements.get(type))}: give it an input type of its own`,
        ),
    );
}

function isBounded(fields: readonly InputValueDefinitionNode[]): boolean {
  return fields.some((field) => directiveOf(field, 'constraint'));
}

/** The input types in a type, with itself. */
function typesIn(document: DocumentNode, type: string, found: string[] = []): string[] {
  const fields = inputFieldsOf(document, type);
  if (fields.length === 0 || found.includes(type)) return found;
  found.push(type);
  for (const field of fields) typesIn(document, namedType(field.type), found);
  return found;
}
