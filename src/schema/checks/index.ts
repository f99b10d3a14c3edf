import {
  type ASTNode,
  buildASTSchema,
  type DocumentNode,
  type GraphQLError,
  Kind,
  print,
  validate,
  ValuesOfCorrectTypeRule,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate';
import { NEEDED_ROLES } from '../../auth/roles';
import type { SchemaModel } from '../model';
import { scalars } from '../scalars';
import { FILTER_KINDS, isObjectNode, isRootType, type Sdl } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { accessErrors } from './access';
import { attachmentErrors } from './attachables';
import { boundErrors } from './bounds';
import { type Checked, errorsAt, errorsOf, type IsResolved, linesOf, nodeOf, type SchemaError } from './errors';
import { indexErrors } from './indexes';
import { inputErrors } from './inputs';
import { lengthErrors } from './lengths';
import { listErrors } from './lists';
import { nameErrors } from './names';
import { personalErrors } from './personal';
import { restrictedErrors } from './restricted';
import { restTypeErrors } from './restTypes';
import { routeErrors } from './routes';
import { typeErrors } from './types';
import { writeErrors } from './writes';

/*
 * The schema errors that prevent a start, because they would show data to the wrong callers, lose some, or serve another API than
 * the schema describes. Each file of the folder finds those of one subject.
 */

/** Refuses an invalid schema. @throws Error with a line per error: where, and what to change */
export function refuseErrors(sdl: SchemaModel, isResolved: IsResolved): void {
  const unresolved = (place: string): string => `${place} has no resolver: add one to the resolvers of its resource`;
  const lines = linesOf(sdl, (model) => {
    const errors = documentErrors(model.document);
    return errors.length > 0 ? errors : modelErrors({ sdl: model, isResolved, unresolved });
  });
  if (lines.length > 0) throw new Error(['invalid schema:', ...lines].join('\n'));
}

/** The errors that graphql-js finds, without those that the caller reports in its own words (`isKnown`). Ask before {@link modelErrors}, which needs a document without any. */
export function documentErrors(
  document: DocumentNode,
  isKnown: (error: GraphQLError) => boolean = () => false,
): SchemaError[] {
  // values of directives, which graphql-js does not check by default, need no other types
  const definitions = document.definitions.filter(({ kind }) => USED_BY_DIRECTIVES.includes(kind));
  const schema = buildASTSchema({ ...document, definitions }, { assumeValidSDL: true, assumeValid: true });
  const values = validate(schema, document, [ValuesOfCorrectTypeRule], { maxErrors: Infinity });
  const errors = [...validateSDL(document), ...values].filter((error) => !isKnown(error));
  return errorsOf(document, errors);
}

/** The definitions that arguments of directives may refer to. */
const USED_BY_DIRECTIVES: readonly Kind[] = [
  Kind.DIRECTIVE_DEFINITION,
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.ENUM_TYPE_EXTENSION,
];

/** The errors of what the gateway makes of a document. @throws UnstorableError for a type that cannot be stored at all */
export function modelErrors(checked: Checked): SchemaError[] {
  const { sdl } = checked;
  const { document } = sdl;
  return [
    ...scalarErrors(document),
    ...enumErrors(sdl),
    ...collectionErrors(sdl),
    ...indexErrors(sdl),
    ...accessErrors(checked),
    ...amountErrors(document),
    ...routeErrors(sdl),
    ...nameErrors(sdl),
    ...personalErrors(sdl),
    ...restrictedErrors(sdl),
    ...lengthErrors(sdl),
    ...listErrors(checked),
    ...writeErrors(checked),
    ...typeErrors(sdl),
    ...attachmentErrors(sdl),
    ...inputErrors(sdl),
    ...boundErrors(sdl),
    ...restTypeErrors(sdl),
  ];
}

function scalarErrors({ definitions }: DocumentNode): SchemaError[] {
  return definitions.flatMap((node) =>
    node.kind === Kind.SCALAR_TYPE_DEFINITION && !Object.hasOwn(scalars, node.name.value)
      ? errorsAt(node, `nothing checks the scalar ${node.name.value}: add it to src/schema/scalars.ts, or remove it`)
      : [],
  );
}

/** Enums of which the code must know every value: permissions to check, and comparisons to make. */
const KNOWN_ENUMS = [
  { name: 'Role', file: 'src/auth/roles.ts', values: Object.keys(NEEDED_ROLES) },
  { name: 'FilterBy', file: 'src/schema/sdl.ts', values: FILTER_KINDS as readonly string[] },
];

function enumErrors(sdl: Sdl): SchemaError[] {
  return KNOWN_ENUMS.flatMap(({ name, file, values }) =>
    sdl
      .enumValuesOf(name)
      .filter((value) => !values.includes(value.name.value))
      .flatMap((node) => errorsAt(node, `enum ${name} has ${node.name.value}, which ${file} lacks: add it there`)),
  );
}

/** The gateway's own collections in an organisation's database; a test checks that this list matches their definitions. */
export const OWN_COLLECTIONS = [
  ...['idempotency_records', 'open_writes', 'write_versions', 'events', 'webhook_deliveries'],
  ...['attachments.files', 'attachments.chunks'],
];

/** Finds stored types that would share a collection, or that lack their unique member. */
export function collectionErrors(sdl: SchemaModel): SchemaError[] {
  const owners = new Map<string, string>();
  return [...sdl.stored.values()].flatMap(({ type, collection, unique, members }) => {
    const other = owners.get(collection);
    owners.set(collection, type);
    const key = members.find(({ name }) => name === unique);
    const isKey = key?.type === 'String' && key.isRequired && !key.isList;
    return errorsAt(
      nodeOf(sdl, type),
      other !== undefined && `${type} has the same collection as ${other}: use another in @stored`,
      OWN_COLLECTIONS.includes(collection) &&
        `${type} has the collection ${collection}, which is the gateway's own: use another in @stored`,
      unique !== undefined &&
        !isKey &&
        `${type} has @stored(unique: "${unique}"), but ${type} has no ${unique}: String!: add it, or name another member`,
    );
  });
}

/** Finds amounts of money that would be rounded, or refused when they are large, and members that are amounts without saying so. */
function amountErrors({ definitions }: DocumentNode): SchemaError[] {
  return definitions.flatMap((node) => {
    if (!isObjectNode(node) && node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION) return [];
    const members: readonly ASTNode[] = isRootType(node.name.value) ? [] : (node.fields ?? []);
    return (node.fields ?? [])
      .flatMap((field) => [field, ...('arguments' in field ? (field.arguments ?? []) : [])])
      .flatMap((definition) => {
        const text = `${node.name.value} has ${definition.name.value}: ${print(definition.type)}`;
        const isNamed = definition.name.value.endsWith('_minor');
        const isMoney = namedType(definition.type) === 'Minor';
        return errorsAt(
          definition,
          isNamed && !isMoney && `${text}, but it is money: write Minor`,
          isMoney &&
            !isNamed &&
            members.includes(definition) &&
            `${text}, but its name does not say that it is money: write ${definition.name.value}_minor`,
        );
      });
  });
}
