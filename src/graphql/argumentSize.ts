import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode, type ValueNode } from 'graphql';
import { type AppError, invalidRequest } from '../errors';
import { BODY_LIMIT } from '../http/body';
import { fragmentsOf } from './documentSize';

/*
 * The size of an operation's arguments, before any of them is coerced or checked (docs/decisions/loop.md). A variable counts each time that
 * the document names it, since each mention is checked: 1 MB named a thousand times would be a gigabyte.
 */

/** Maxima of all arguments of an operation together. */
export const ARGUMENT_LIMITS = {
  /** Characters of strings; the largest body has no more if each variable is named once. */
  characters: BODY_LIMIT,
  /** Elements of lists, and members that are lists or objects: a bulk call of 1 MiB has fewer, unless its elements are nearly empty. */
  elements: 20_000,
} as const;

type Size = Record<keyof typeof ARGUMENT_LIMITS, number>;

const WORDS: Record<keyof Size, string> = {
  characters: 'characters',
  elements: 'elements and members that are lists or objects',
};

/** The size of the literals in an operation's arguments, each fragment counted wherever it is spread, and the variables that they name. */
interface Contents extends Size {
  /** Mentions by variable. */
  readonly mentions: Map<string, number>;
}

const cache = new WeakMap<OperationDefinitionNode, Contents>();

/** The error for arguments over a limit; undefined within all. The document must be valid and within QUERY_LIMITS. */
export function argumentSizeError(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): AppError | undefined {
  let contents = cache.get(operation);
  if (!contents) cache.set(operation, (contents = contentsOf(document, operation)));
  const size: Size = { characters: contents.characters, elements: contents.elements };
  const count = (name: string, valueSize: Size): void => {
    // an unused variable is coerced, too
    const times = contents.mentions.get(name) ?? 1;
    size.characters += times * valueSize.characters;
    size.elements += times * valueSize.elements;
  };
  for (const name of Object.keys(values)) count(name, sizeOf(values[name]));
  for (const { variable, defaultValue } of operation.variableDefinitions ?? []) {
    const { value: name } = variable.name;
    if (defaultValue && !Object.hasOwn(values, name)) count(name, sizeOfLiteral(defaultValue));
  }
  const over = (['characters', 'elements'] as const).find((what) => size[what] > ARGUMENT_LIMITS[what]);
  if (!over) return undefined;
  const detail = `have more than ${ARGUMENT_LIMITS[over].toLocaleString('en')} ${WORDS[over]}, each counted as often as the document names it`;
  const parameter = contents[over] > ARGUMENT_LIMITS[over] ? 'query' : 'variables';
  return invalidRequest([{ parameter, code: 'size', detail }]);
}

/** The size of a variable's value. Stops once there are too many elements. */
function sizeOf(value: unknown): Size {
  const size: Size = { characters: 0, elements: 0 };
  const visit = (value: unknown): void => {
    if (typeof value === 'string') size.characters += value.length;
    if (typeof value !== 'object' || value === null || size.elements > ARGUMENT_LIMITS.elements) return;
    if (Array.isArray(value)) {
      size.elements += value.length;
      value.forEach(visit);
      return;
    }
    for (const member of Object.values(value)) {
      if (typeof member === 'object' && member !== null) size.elements += 1;
      visit(member);
    }
  };
  visit(value);
  return size;
}

function sizeOfLiteral(value: ValueNode): Size {
  const contents = noContents();
  addValue(contents, value);
  return contents;
}

const noContents = (): Contents => ({ characters: 0, elements: 0, mentions: new Map() });

/** Reads each fragment once. */
function contentsOf(document: DocumentNode, operation: OperationDefinitionNode): Contents {
  const fragments = fragmentsOf(document);
  const ofFragments = new Map<string, Contents>();
  const ofSet = (set: SelectionSetNode | undefined): Contents => {
    const contents = noContents();
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) add(contents, ofFragment(selection.name.value));
      else {
        if (selection.kind === Kind.FIELD)
          for (const argument of selection.arguments ?? []) addValue(contents, argument.value);
        if (selection.selectionSet) add(contents, ofSet(selection.selectionSet));
      }
    }
    return contents;
  };
  const ofFragment = (name: string): Contents => {
    let contents = ofFragments.get(name);
    if (!contents) ofFragments.set(name, (contents = ofSet(fragments.get(name)?.selectionSet)));
    return contents;
  };
  return ofSet(operation.selectionSet);
}

function addValue(contents: Contents, value: ValueNode): void {
  if (value.kind === Kind.STRING) contents.characters += value.value.length;
  else if (value.kind === Kind.VARIABLE) addMentions(contents, value.name.value, 1);
  else if (value.kind === Kind.LIST) {
    contents.elements += value.values.length;
    for (const element of value.values) addValue(contents, element);
  } else if (value.kind === Kind.OBJECT)
    for (const { value: member } of value.fields) {
      if (member.kind === Kind.LIST || member.kind === Kind.OBJECT) contents.elements += 1;
      addValue(contents, member);
    }
}

function add(contents: Contents, more: Contents): void {
  contents.characters += more.characters;
  contents.elements += more.elements;
  for (const [name, times] of more.mentions) addMentions(contents, name, times);
}

function addMentions({ mentions }: Contents, name: string, times: number): void {
  mentions.set(name, (mentions.get(name) ?? 0) + times);
}
