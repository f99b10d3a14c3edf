import { isInputType, Kind, print, specifiedDirectives, typeFromAST, validateSchema, valueFromAST } from 'graphql';
import { MCP_ACCESS, PLANS } from '../../src/auth/principal';
import { ALL_ROLES, ROLES } from '../../src/auth/roles';
import { SCOPES } from '../../src/auth/scopes';
import { FIELDS, IDEMPOTENCY_KEY } from '../../src/mcp/tools';
import { errorsAt } from '../../src/schema/checks/errors';
import { omittedFrom } from '../../src/schema/restDocument';
import { directiveOf, isListType, namedType, rowName, ROWS } from '../../src/schema/sdl';
import { OUTCOMES } from '../../src/schema/upserts';
import { TOTALS_GROUPS } from '../../src/stored/totals';
import type { Rules } from './model';

/* Directives in places where they have no effect, and enums that differ from their tables in the code. */

const ROOTS = { kinds: ['query', 'mutation'], where: 'fields of Query and Mutation' };
const QUERIES = { kinds: ['query'], where: 'fields of Query' };
const MEMBERS = { kinds: ['member'], where: 'fields of other types than Query, Mutation and Subscription' };
const ARGUMENTS = { kinds: ['argument'], where: 'arguments of fields' };

const EFFECTS: ReadonlyMap<string, { readonly kinds: readonly string[]; readonly where: string }> = new Map([
  ['rest', ROOTS],
  ['mcp', { ...ROOTS, where: 'root fields' }],
  ['sunset', ROOTS],
  ['totals', QUERIES],
  ['aggregates', QUERIES],
  ['access', { kinds: ['query', 'mutation', 'stream', 'member'], where: 'fields of object types' }],
  ['graphql_only', MEMBERS],
  ['searchable', MEMBERS],
  ['untrusted', MEMBERS],
  ['constraint', { kinds: ['argument', 'input', 'member'], where: 'arguments, and fields of input and object types' }],
  ['filter', ARGUMENTS],
  ['per_element', ARGUMENTS],
  ['event_types', ARGUMENTS],
  ['personal', MEMBERS],
  ['stored', { kinds: ['type'], where: 'object types' }],
]);

const TABLES: Readonly<Record<string, readonly [file: string, values: readonly string[]]>> = {
  Scope: ['src/auth/scopes.ts', Object.keys(SCOPES)],
  Role: ['src/auth/roles.ts', Object.keys(ROLES)],
  MemberRole: ['src/auth/roles.ts', ALL_ROLES],
  Plan: ['src/auth/plans.ts', Object.keys(PLANS)],
  McpAccess: ['src/auth/mcpAccess.ts', MCP_ACCESS],
  TotalsGroup: ['src/stored/totals.ts', TOTALS_GROUPS],
  UpsertOutcome: ['src/schema/upserts.ts', OUTCOMES],
};

/** Whether a string is a day of the calendar; Date reads 30 February as another day. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00.000Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(`${text}T`);
}

export const DIRECTIVES: Rules = {
  // graphql-js finds these errors only when it first runs an operation
  valid: {
    schema: ({ schema }) => validateSchema(schema).map(({ message, nodes }) => ({ node: nodes?.[0], text: message })),
  },
  'directive-place': {
    place: ({ kind, node }) =>
      (node.directives ?? []).map(({ name: { value: name } }) => {
        const effect = EFFECTS.get(name);
        if (name === 'oneOf') return 'has @oneOf, which REST would not check: remove it';
        return effect && !effect.kinds.includes(kind) && `has @${name}, which is for ${effect.where}: remove it`;
      }),
  },
  'directive-unknown': {
    schema: ({ sdl: { document } }) =>
      document.definitions.flatMap((node) => {
        if (node.kind !== Kind.DIRECTIVE_DEFINITION || EFFECTS.has(node.name.value)) return [];
        const isStandard = specifiedDirectives.some(({ name }) => name === node.name.value);
        return errorsAt(node, !isStandard && `@${node.name.value} is defined, but nothing reads it: remove it`);
      }),
  },
  'default-type': {
    input: ({ node: { type: node, defaultValue } }, { schema }) => {
      const type = typeFromAST(schema, node);
      // graphql-js silently drops such a default
      const isLost = defaultValue && isInputType(type) && valueFromAST(defaultValue, type) === undefined;
      return [isLost && `has the default ${print(defaultValue)}, which is not ${print(node)}: change or remove it`];
    },
  },
  'access-empty': {
    field: ({ node }) => [
      directiveOf(node, 'access')?.any_of?.length === 0 && 'has @access(any_of: []), which no key meets: name scopes',
    ],
  },
  'lists-without-rows': {
    field: ({ node, owner, kind }, { routes }) => [
      kind === 'member' &&
        omittedFrom(node) === 'LISTS' &&
        !routes.some((route) => rowName(route.node) === owner) &&
        `has @graphql_only(on: LISTS), but no list on REST has rows of ${owner}: remove (on: LISTS), or @graphql_only altogether`,
    ],
  },
  sunset: {
    root: ({ node }) => {
      const sunset = directiveOf(node, 'sunset');
      if (!sunset) return [];
      const { since, on } = sunset;
      const invalid = [since, on].filter((day) => !isDay(day));
      return [
        ...invalid.map((day) => `has @sunset with ${day}: write days as 2026-11-21`),
        invalid.length === 0 && since >= on && 'has @sunset(on:) no later than since: give callers time between them',
        !directiveOf(node, 'deprecated') &&
          'has @sunset and no @deprecated: add the reason, which says what to use instead',
      ];
    },
  },
  'tool-arguments': {
    root: ({ node }) =>
      directiveOf(node, 'mcp') || directiveOf(node, 'rest')
        ? (node.arguments ?? []).map(
            ({ name: { value } }) =>
              [FIELDS, IDEMPOTENCY_KEY].includes(value) && `takes ${value}, which tools use themselves: rename it`,
          )
        : [],
  },
  'tool-fields': {
    root: ({ node, kind }, { sdl }) => {
      const [fields, rest] = [directiveOf(node, 'mcp')?.fields, directiveOf(node, 'rest')];
      if (!fields) return [];
      const rows = sdl.fieldsOf(namedType(node.type)).find(({ name }) => name.value === ROWS);
      const members = sdl.fieldsOf(rows && namedType(rows.type));
      return [
        !rows && `has @mcp(fields:) but returns no list: its type has no ${ROWS}`,
        fields.length === 0 && 'has @mcp(fields: []), so rows would have at most an id: name members, or remove it',
        kind === 'mutation' && 'has @mcp(fields:), which is for reads: remove it',
        ...(rows ? fields : []).map((one) => {
          const member = members.find(({ name }) => name.value === one);
          if (!member) return `has @mcp(fields:) with ${one}, which its rows lack`;
          const isUnseen = rest && omittedFrom(member);
          return isUnseen && `has @mcp(fields:) with ${one}, which REST lists omit, and so do tools: remove it`;
        }),
      ];
    },
  },
  'tool-limit': {
    root: ({ node }) => {
      const size = directiveOf(node, 'mcp')?.limit;
      if (size === undefined) return [];
      const limit = node.arguments?.find(({ name }) => name.value === 'limit');
      const { min = 1, max = Infinity } = directiveOf(limit, 'constraint') ?? {};
      if (!limit) return ['has @mcp(limit:) but no argument limit'];
      return [(size < min || size > max) && `has @mcp(limit: ${String(size)}), which limit refuses`];
    },
  },
  'tool-user': {
    root: ({ node }) => [
      directiveOf(node, 'mcp') && directiveOf(node, 'access')?.role !== undefined && 'is for users but has @mcp',
    ],
  },
  untrusted: {
    field: ({ node }) => [
      directiveOf(node, 'untrusted') &&
        (namedType(node.type) !== 'String' || isListType(node.type)) &&
        'has @untrusted, which is for fields of type String',
    ],
  },
  table: {
    schema: ({ sdl }) =>
      Object.entries(TABLES).flatMap(([name, [file, values]]) => {
        const declared = sdl.enumValuesOf(name);
        const names = declared.map((value) => value.name.value);
        return [
          ...declared.flatMap((node) =>
            errorsAt(
              node,
              !values.includes(node.name.value) &&
                // not a role of users: only the check at the start knows it
                node.name.value !== 'OPERATOR' &&
                `enum ${name} has ${node.name.value}, which ${file} lacks: add it there, or remove it`,
            ),
          ),
          // the operators' schema has only the enums that it uses
          ...errorsAt(
            undefined,
            ...(declared.length > 0 ? values : []).map(
              (value) =>
                !names.includes(value) && `${file} has ${value}, which enum ${name} lacks: add it there, or remove it`,
            ),
          ),
        ];
      }),
  },
  'scope-description': {
    schema: ({ sdl }) =>
      sdl.enumValuesOf('Scope').flatMap((node) => {
        const scope = (SCOPES as Readonly<Record<string, string>>)[node.name.value];
        return errorsAt(
          node,
          scope !== undefined &&
            node.description?.value.startsWith(`${scope}: `) === false &&
            `the description of ${node.name.value} in enum Scope does not begin with its scope, which the settings page shows: write "${scope}: " and what it allows`,
        );
      }),
  },
};
