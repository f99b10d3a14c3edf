import { coerceInputValue, getNamedType, type GraphQLArgument, type GraphQLSchema, isInputObjectType } from 'graphql';
import { type Check, type Fault, invalidRequest, validationFailed } from '../errors';
import { isInBody } from '../schema/declaredOperations';
import { IF_MATCH, IF_MATCH_HEADER } from '../schema/entityTags';
import {
  argumentsSchema,
  componentSchemas,
  ELEMENT_ROOT,
  elementSchemas,
  type JsonSchema,
  type ObjectField,
} from '../schema/jsonSchema';
import { directiveOf } from '../schema/sdl';
import { asParameters, checkAtFirstUse, createAjv, requireSchema } from '../schema/validation';

/** Checks of a field's arguments, the same for all APIs. */
export interface ArgumentChecks {
  /**
   * Checks all arguments at once, the way GraphQL and MCP take them, and reports the faults that REST would.
   * @throws AppError invalid_request for what REST takes as parameters, such as all of a query's arguments; validation_failed for the rest
   */
  readonly all: (args: unknown) => void;
  /** Returns the faults of the arguments that REST takes from path, query and If-Match. */
  readonly parameters: (args: unknown) => Fault[];
  /** Checks the arguments that REST takes from the body. @throws AppError validation_failed */
  readonly body: (body: unknown) => void;
}

interface Options {
  /** Whether to leave elements of bulk calls to their operation, which lets each fail on its own. */
  readonly rawElements?: boolean;
}

/** Gives the checks of each of the fields `checked`. All are compiled when the first is used: at startup that would take most of its time. */
export function argumentChecks(
  schema: GraphQLSchema,
  checked: readonly ObjectField[],
  { rawElements = false }: Options = {},
): (checked: ObjectField) => ArgumentChecks {
  let instance: ReturnType<typeof createAjv> | undefined;
  const ajv = (): ReturnType<typeof createAjv> => {
    const components = { schemas: componentSchemas(schema, { elementBounds: true, closed: false }) };
    const elements = rawElements ? {} : elementSchemas(schema);
    const fields = Object.fromEntries(checked.map((operation) => [keyOf(operation), partsOf(operation, rawElements)]));
    return createAjv().addSchema({ components, elements, fields }, 'arguments');
  };
  return (operation) => {
    const isWrite = operation.type === 'Mutation';
    const { astNode } = operation.field;
    const part = (name: 'all' | 'parameters' | 'body'): Check =>
      checkAtFirstUse(() => requireSchema((instance ??= ajv()), `arguments#/fields/${keyOf(operation)}/${name}`));
    const checkAll = part('all');
    const checkParameters = isWrite ? part('parameters') : checkAll;
    const checkBody = part('body');
    const rest = directiveOf(astNode, 'rest');
    const isParameter = ({ parameter = '' }: Fault): boolean => rest !== undefined && !isInBody(rest, parameter);
    /** Names a fault of `if_match` as REST does, by its header. */
    const onRest = (fault: Fault): Fault =>
      fault.parameter === IF_MATCH ? { ...fault, parameter: IF_MATCH_HEADER } : fault;
    return {
      all(args) {
        const { faults, more } = checkAll(args);
        if (faults.length === 0) return;
        const parameterFaults = asParameters(faults);
        if (!isWrite) throw invalidRequest(parameterFaults, more);
        const ofParameters = parameterFaults.filter(isParameter).map(onRest);
        throw ofParameters.length > 0 ? invalidRequest(ofParameters) : validationFailed(faults, more);
      },
      parameters: (args) => asParameters(checkParameters(args).faults).map(onRest),
      body(body) {
        const { faults, more } = checkBody(body);
        if (faults.length > 0) throw validationFailed(faults, more);
      },
    };
  };
}

function keyOf({ type, field }: ObjectField): string {
  return `${type}.${field.name}`;
}

/** JSON Schemas of a field's arguments: of all together and, for a write, of its parameters and its body in REST. */
function partsOf({ type, field: { args, astNode } }: ObjectField, rawElements: boolean): Record<string, JsonSchema> {
  const queries = type !== 'Mutation';
  const schemaOf = (some: readonly GraphQLArgument[]): JsonSchema =>
    withUncheckedElements(argumentsSchema(some, { queries }), some, rawElements);
  if (queries) return { all: schemaOf(args) };
  const rest = directiveOf(astNode, 'rest');
  const inBody = args.filter(({ name }) => rest && isInBody(rest, name));
  const others = args.filter((argument) => !inBody.includes(argument));
  return { all: schemaOf(args), parameters: schemaOf(others), body: schemaOf(inBody) };
}

/** A schema of arguments in which those of a bulk call only have elements of the right type, since one that breaks a bound fails alone, later; any with `rawElements`. */
function withUncheckedElements(all: JsonSchema, args: readonly GraphQLArgument[], rawElements: boolean): JsonSchema {
  const properties = { ...(all.properties as Record<string, JsonSchema>) };
  for (const { name, type, astNode } of args) {
    const element = getNamedType(type);
    if (!directiveOf(astNode, 'per_element') || !(rawElements || isInputObjectType(element))) continue;
    properties[name] = { ...properties[name], items: rawElements ? {} : { $ref: ELEMENT_ROOT + element.name } };
  }
  return { ...all, properties };
}

/**
 * The declared arguments of values that were checked, coerced the way graphql-js does for resolvers; others, such as `include`, are left out.
 * Undefined if one is of another type. What is required is not looked for here.
 */
export function coerceArguments(
  args: readonly GraphQLArgument[],
  values: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const coerced: Record<string, unknown> = {};
  const faults: unknown[] = [];
  for (const { name, type, defaultValue } of args) {
    const value = values[name];
    if (value === undefined) {
      if (defaultValue !== undefined) coerced[name] = defaultValue;
      continue;
    }
    coerced[name] = coerceInputValue(value, type, (...fault) => faults.push(fault));
  }
  return faults.length === 0 ? coerced : undefined;
}
