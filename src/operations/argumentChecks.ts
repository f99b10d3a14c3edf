import { coerceInputValue, type GraphQLArgument, type GraphQLSchema } from 'graphql';
import { invalidRequest, validationFailed } from '../errors';
import { perElement } from './elements';
import { IF_MATCH, IF_MATCH_HEADER } from '../schema/entityTags';
import { argumentsSchema, componentSchemas, type JsonSchema, type ObjectField } from '../schema/jsonSchema';
import { directiveOf } from '../schema/sdl';
import { asParameters, checkAtFirstUse, createAjv, requireSchema } from '../schema/validation';

/* Checks of the arguments of fields, for all but REST, which checks them against its document. */

/**
 * Checks arguments, and reports faults as REST does: 400 for parameters, which are all that a query has; otherwise 422, as in a body.
 * With `rawElements`, elements of bulk calls are left to their operation, which lets each fail alone.
 */
export function argumentChecks(
  schema: GraphQLSchema,
  checked: readonly ObjectField[],
  { rawElements = false } = {},
): (checked: ObjectField) => (args: unknown) => void {
  const components = { schemas: componentSchemas(schema, { elementBounds: false, closed: false }) };
  const fields = Object.fromEntries(
    checked.map(({ type, field }) => {
      const all = argumentsSchema(field.args, { queries: type !== 'Mutation' });
      return [`${type}.${field.name}`, rawElements ? withAnyElements(all, field.args) : all];
    }),
  );
  const ajv = createAjv().addSchema({ components, fields }, 'arguments');
  return ({ type, field }) => {
    const check = checkAtFirstUse(() => requireSchema(ajv, `arguments#/fields/${type}.${field.name}`));
    const parameters = parametersOf(field);
    return (args) => {
      const { faults, more } = check(args);
      if (faults.length === 0) return;
      const named = asParameters(faults);
      if (type !== 'Mutation') throw invalidRequest(named, more);
      const ofParameters = named.flatMap((fault) => {
        const parameter = parameters.get(fault.parameter ?? '');
        return parameter === undefined ? [] : { ...fault, parameter };
      });
      throw ofParameters.length > 0 ? invalidRequest(ofParameters) : validationFailed(faults, more);
    };
  };
}

/** The arguments of a write that REST takes from the path or a header, with their names there. */
function parametersOf({ astNode }: ObjectField['field']): ReadonlyMap<string, string> {
  const inPath = directiveOf(astNode, 'rest')?.path.matchAll(/:(\w+)/g) ?? [];
  return new Map([[IF_MATCH, IF_MATCH_HEADER], ...[...inPath].map(([, name = '']) => [name, name] as const)]);
}

/** The schema of a bulk call that takes any elements. */
function withAnyElements(all: JsonSchema, args: readonly GraphQLArgument[]): JsonSchema {
  const properties = { ...(all.properties as Record<string, JsonSchema>) };
  for (const list of perElement(args)) properties[list] = { ...properties[list], items: {} };
  return { ...all, properties };
}

/** Arguments as graphql gives them to resolvers; undefined if it would not. Others, such as `include`, are left out. */
export function coerceArguments(
  args: readonly GraphQLArgument[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const coerced: Record<string, unknown> = {};
  const faults: unknown[] = [];
  for (const { name, type, defaultValue } of args) {
    const value = given[name];
    if (value === undefined) {
      if (defaultValue !== undefined) coerced[name] = defaultValue;
      continue;
    }
    coerced[name] = coerceInputValue(value, type, (...fault) => faults.push(fault));
  }
  return faults.length === 0 ? coerced : undefined;
}
