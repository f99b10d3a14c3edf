import {
  type ArgumentNode,
  type DocumentNode,
  getNamedType,
  getNullableType,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputObjectType,
  isInputType,
  isListType,
  Kind,
  type ObjectFieldNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type Fault, invalidRequest, MOST_FAULTS, validationFailed } from '../errors';
import { constraintOf } from './jsonSchema';

/*
 * The size of variables, checked before they are coerced: each coercion takes a microsecond or more for each element, and there are
 * two or three before the arguments are checked (docs/decisions/loop.md).
 */

/** Elements of all variables, and members that are lists or objects: more than 1 MiB of bulk calls has, unless they are nearly empty. */
const MOST = 20_000;

type Most = ReadonlyMap<string, number>;

/** Maxima by variable, for as long as their documents are kept. */
const known = new WeakMap<OperationDefinitionNode, Most>();

/**
 * Refuses, by the names of variables, lists longer than the arguments or members that they are for can be, and variables that are too large together.
 * @throws AppError
 */
export function refuseLargeVariables(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  values: Readonly<Record<string, unknown>>,
): void {
  const faults: Fault[] = [];
  const isWrite = operation.operation === OperationTypeNode.MUTATION;
  let size = 0;

  function add(count: number): void {
    size += count;
    if (size <= MOST) return;
    const detail = `have more than ${MOST.toLocaleString('en')} elements and members that are lists or objects`;
    throw invalidRequest([{ parameter: 'variables', code: 'size', detail }]);
  }

  function look(value: unknown, type: GraphQLInputType, most: number, path: readonly (string | number)[]): void {
    if (typeof value !== 'object' || value === null || faults.length === MOST_FAULTS) return;
    const nullable = getNullableType(type);
    if (Array.isArray(value)) {
      if (value.length > most) {
        const place = isWrite ? { pointer: `/${path.join('/')}` } : { parameter: path.join('/') };
        faults.push({ ...place, code: 'length', detail: `must not have more than ${String(most)} items` });
        return;
      }
      add(value.length);
      if (!isListType(nullable)) return;
      for (const [at, element] of value.entries()) look(element, nullable.ofType, Infinity, [...path, at]);
    } else if (isListType(nullable)) {
      // a single value in place of a list
      look(value, nullable.ofType, Infinity, path);
    } else if (isInputObjectType(nullable)) {
      for (const [name, field] of Object.entries(nullable.getFields())) {
        const member = (value as Readonly<Record<string, unknown>>)[name];
        if (typeof member !== 'object' || member === null) continue;
        add(1);
        look(member, field.type, mostOf(field), [...path, name]);
      }
    }
  }

  for (const { variable, type: node } of operation.variableDefinitions ?? []) {
    const name = variable.name.value;
    const value = values[name];
    if (typeof value !== 'object' || value === null) continue;
    const type = typeFromAST(schema, node);
    if (isInputType(type)) look(value, type, mostByVariable(schema, document, operation).get(name) ?? Infinity, [name]);
  }
  if (faults.length > 0) throw isWrite ? validationFailed(faults) : invalidRequest(faults);
}

function mostOf(described: Parameters<typeof constraintOf>[0]): number {
  return constraintOf(described).max_items ?? Infinity;
}

/** How long each variable may be for the argument or member that takes the most of those that it is given to. */
function mostByVariable(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode): Most {
  let most = known.get(operation) as Map<string, number> | undefined;
  if (most) return most;
  known.set(operation, (most = new Map<string, number>()));
  const found = most;
  const types = new TypeInfo(schema);
  const note = ({ value, name }: ArgumentNode | ObjectFieldNode, isMember: boolean): void => {
    if (value.kind !== Kind.VARIABLE) return;
    const parent = isMember && getNamedType(types.getParentInputType());
    const place = isInputObjectType(parent) ? parent.getFields()[name.value] : types.getArgument();
    const variable = value.name.value;
    if (place) found.set(variable, Math.max(found.get(variable) ?? 0, mostOf(place)));
  };
  const visitor = {
    Argument: (node: ArgumentNode): void => {
      note(node, false);
    },
    ObjectField: (node: ObjectFieldNode): void => {
      note(node, true);
    },
  };
  visit(document, visitWithTypeInfo(types, visitor));
  return most;
}
