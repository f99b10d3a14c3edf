import { type ASTNode, buildASTSchema, type GraphQLSchema } from 'graphql';
import {
  type Checked,
  type CheckedResource,
  errorsAt,
  nodeOf,
  type ResolverTable,
  type SchemaError,
} from '../../src/schema/checks/errors';
import type { SchemaModel } from '../../src/schema/model';
import { directiveOf, type RootType } from '../../src/schema/sdl';
import type { Relation, StoredType } from '../../src/schema/storedTypes';
import type { BulkUpsert } from '../../src/schema/upserts';
import { type FieldPlace, type InputPlace, type Place, placesOf } from './places';

/* What the linter's rules look at, and how they are run. */

export interface Model extends Checked {
  readonly schema: GraphQLSchema;
  readonly places: readonly Place[];
  readonly fields: readonly FieldPlace[];
  /** Fields of Query and Mutation. */
  readonly roots: readonly FieldPlace[];
  readonly routes: readonly Route[];
  readonly inputs: readonly InputPlace[];
  /** All resources, including several with the same name. */
  readonly defined: readonly CheckedResource[];
}

export interface Route extends FieldPlace {
  readonly root: RootType;
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** What is wrong with a place: sentences that continue after its name. */
export type Found = readonly unknown[];

/** A rule, by what it visits. */
export interface Rule {
  /** Every node that can have directives. */
  readonly place?: (place: Place, model: Model) => Found;
  readonly field?: (field: FieldPlace, model: Model) => Found;
  readonly root?: (field: FieldPlace, model: Model) => Found;
  readonly route?: (route: Route, model: Model) => Found;
  /** Arguments and fields of input types. */
  readonly input?: (input: InputPlace, model: Model) => Found;
  readonly stored?: (stored: StoredType, model: Model) => Found;
  readonly relation?: (relation: Relation, owner: StoredType, model: Model) => Found;
  readonly upsert?: (upsert: BulkUpsert, model: Model) => Found;
  /** The whole schema; unlike those of other rules, its sentences are complete. */
  readonly schema?: (model: Model) => readonly SchemaError[];
}

export type Rules = Readonly<Record<string, Rule>>;

export function modelOf(sdl: SchemaModel, resolvers: ResolverTable, defined: readonly CheckedResource[]): Model {
  const { all: places, fields, inputs } = placesOf(sdl.document);
  const roots = fields.filter(({ kind }) => kind === 'query' || kind === 'mutation');
  const routes = roots.flatMap((field): Route[] => {
    const rest = directiveOf(field.node, 'rest');
    return rest ? [{ ...field, root: field.owner as RootType, ...rest }] : [];
  });
  return {
    ...{ sdl, resolvers, places, fields, roots, routes, inputs, defined },
    schema: buildASTSchema(sdl.document, { assumeValidSDL: true }),
    resources: new Map(defined.map((one) => [one.name, one])),
  };
}

/** What the rules find, each sentence with the name of its rule. */
export function apply(rules: Rules, model: Model): SchemaError[] {
  return Object.entries(rules).flatMap(([name, rule]) =>
    found(rule, model).map(({ node, text }) => ({ node, text: `${text} [${name}]` })),
  );
}

function found(rule: Rule, model: Model): SchemaError[] {
  const visited = <P extends Pick<Place, 'name' | 'node'>>(
    places: readonly P[],
    visit?: (one: P, all: Model) => Found,
  ) => (visit ? places.flatMap((place) => at(place.node, place.name, visit(place, model))) : []);
  const { sdl } = model;
  const stored = [...sdl.stored.values()];
  return [
    ...visited(model.places, rule.place),
    ...visited(model.fields, rule.field),
    ...visited(model.roots, rule.root),
    ...visited(model.routes, rule.route),
    ...visited(model.inputs, rule.input),
    ...stored.flatMap((one) => at(nodeOf(sdl, one.type), one.type, rule.stored?.(one, model) ?? [])),
    ...stored.flatMap((owner) =>
      owner.relations.flatMap((relation) => {
        const place = `${owner.type}.${relation.field.name.value}`;
        return at(relation.field, place, rule.relation?.(relation, owner, model) ?? []);
      }),
    ),
    ...sdl.upserts.flatMap((one) => {
      const { name, node } = model.roots.find(({ node }) => node.name.value === one.operation) ?? {};
      return at(node, String(name), rule.upsert?.(one, model) ?? []);
    }),
    ...(rule.schema?.(model) ?? []),
  ];
}

function at(node: ASTNode | undefined, name: string, sentences: Found): SchemaError[] {
  return errorsAt(node, ...sentences).map(({ text }) => ({ node, text: `${name} ${text}` }));
}
