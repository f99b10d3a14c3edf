import { type FieldDefinitionNode, type InputValueDefinitionNode, Kind, print } from 'graphql';
import { DEFAULT_LIMIT } from '../../src/database/pagination';
import { GROUPS } from '../../src/schema/checks/lists';
import { filterOf, SPANS } from '../../src/schema/filters';
import { directiveOf, isListType, namedType, pageOf, rowName, ROWS } from '../../src/schema/sdl';
import { totalledAmounts, typeOf } from '../../src/schema/storedTypes';
import type { Rules } from './model';

/* Arguments of lists, and totals. */

function argumentOf({ arguments: args = [] }: FieldDefinitionNode, name: string): InputValueDefinitionNode | undefined {
  return args.find((one) => one.name.value === name);
}

const TIMES = ['DateTime', 'Date'];
/** Members of a row that are null unless totals are grouped by them. */
const GROUPED = ['status', 'month', 'customer_id'];

export const LISTS: Rules = {
  'list-limit': {
    field: ({ node }, { sdl }) => {
      const limit = argumentOf(node, 'limit');
      const otherwise = directiveOf(limit, 'constraint')?.default;
      const size = String(DEFAULT_LIMIT);
      if (!limit)
        return [
          sdl.stored.has(rowName(node) ?? '') &&
            `is a list without limit: add limit: Int @constraint(min: 1, max: 100, default: ${size})`,
        ];
      return [
        pageOf(node) !== undefined &&
          otherwise !== undefined &&
          otherwise !== DEFAULT_LIMIT &&
          `has a limit with default: ${String(otherwise)}, but a page without it has ${size} rows: write default: ${size}`,
      ];
    },
  },
  'list-cursor': {
    field: ({ node }, { sdl }) => [
      sdl.stored.has(rowName(node) ?? '') &&
        !argumentOf(node, 'cursor') &&
        'is a list without cursor: add cursor: String @constraint(max_length: 2048)',
    ],
  },
  'list-sort': {
    input: ({ node, of }, { sdl }) => {
      const rows = of && sdl.stored.get(rowName(of.node) ?? '');
      if (!rows || node.name.value !== 'sort') return [];
      const { one_of: sorts = [] } = directiveOf(node, 'constraint') ?? {};
      const names = new Set(sorts.map((one) => one.replace(/^-/, '')));
      return [
        (namedType(node.type) !== 'String' || isListType(node.type)) &&
          'is not a String: a list has one sort at a time',
        sorts.length === 0 && 'takes any text: add @constraint(one_of:) with the members that it sorts by',
        ...rows.members
          .filter(({ name }) => names.has(name))
          .map(({ name, kind, isList, isRequired, type }) => {
            if ((kind !== 'string' && kind !== 'dateTime') || isList)
              return `sorts by ${name}, which is ${type}: pages can only continue after a string or a time`;
            if (!isRequired) return `sorts by ${name}, which may be null: no page could continue after such a row`;
            const isOmitted = rows.omittedInLists.includes(name);
            return isOmitted && `sorts by ${name}, which lists omit: remove its @graphql_only(on: LISTS)`;
          }),
      ];
    },
  },
  'filter-place': {
    input: ({ node, of }) => {
      const filter = of && filterOf(node);
      if (!filter) return [];
      const isList = of.kind === 'query' && pageOf(of.node) !== undefined;
      const isForKeys = directiveOf(of.node, 'access')?.role === undefined;
      const isNamed = directiveOf(node, 'filter')?.member !== undefined;
      // totals and nested lists say what they take
      const isElsewhere = directiveOf(of.node, 'totals') ?? (of.kind === 'member' && pageOf(of.node) !== undefined);
      return [
        !(isList && isForKeys) &&
          isElsewhere !== true &&
          'has @filter, which is for arguments of lists that keys read: remove it',
        filter.by === 'WORDS' && isNamed && 'searches all members that are @searchable: remove member from its @filter',
      ];
    },
  },
  'filter-time': {
    input: ({ node }) => [
      filterOf(node)?.by === 'EQUALS' &&
        namedType(node.type) === 'DateTime' &&
        'compares times for equality: use SINCE or BEFORE',
    ],
  },
  // the second would replace the first
  'filter-span': {
    input: ({ node, of }) => {
      const filter = filterOf(node);
      if (!of || !filter || !Object.hasOwn(SPANS, filter.by)) return [];
      const { member, by } = filter;
      const other = of.node.arguments?.map(filterOf).find((one) => one?.member === member && one.by === by);
      return [
        other &&
          other.argument !== filter.argument &&
          `is a second ${by} of ${member}, beside ${other.argument}: remove one of them`,
      ];
    },
  },
  'totals-of': {
    root: ({ node }, { sdl }) => {
      const { of = '', at = '' } = directiveOf(node, 'totals') ?? {};
      const stored = sdl.stored.get(of);
      if (of === '') return [];
      if (!stored) return [`has @totals(of: "${of}"), but no type ${of} is @stored`];
      const isTime = TIMES.includes(typeOf(stored, at) ?? '');
      return [
        ...GROUPS.map(
          (member) => typeOf(stored, member) === undefined && `groups by ${member}, but ${of} has no such member`,
        ),
        !isTime && `has @totals(at: "${at}"), but ${of} has no such DateTime or Date`,
      ];
    },
  },
  'totals-arguments': {
    root: ({ node }, { sdl }) => {
      const totals = directiveOf(node, 'totals');
      const stored = sdl.stored.get(totals?.of ?? '');
      const at = typeOf(stored, totals?.at ?? '') ?? 'DateTime';
      const status = `[${typeOf(stored, 'status') ?? 'String'}!]`;
      const taken: Readonly<Record<string, string>> = {
        ...{ group_by: '[TotalsGroup!]', from: at, to: at, status, customer_id: 'ID', currency: 'String' },
        ...{ sort: 'String', limit: 'Int' },
      };
      return (totals ? (node.arguments ?? []) : []).map(({ name: { value: name }, type }) => {
        const wanted = taken[name];
        if (wanted === undefined) return `takes ${name}: totals take only ${Object.keys(taken).join(', ')}`;
        return print(type) !== wanted && `takes ${name} as ${print(type)}: totals take it as ${wanted}`;
      });
    },
  },
  'totals-rows': {
    root: ({ node }, { sdl, resolvers }) => {
      const stored = sdl.stored.get(directiveOf(node, 'totals')?.of ?? '');
      if (!stored) return [];
      const answer = namedType(node.type);
      const data = sdl.fieldsOf(answer).find(({ name }) => name.value === ROWS);
      const row = data ? namedType(data.type) : '';
      const amounts = totalledAmounts(sdl, node, stored);
      const filled = new Map<string, string | undefined>([
        ...GROUPS.map((name) => [name, typeOf(stored, name)] as const),
        ['month', 'String'],
        ['count', 'Int'],
        ...amounts.map((name) => [name, 'Minor'] as const),
      ]);
      return [
        amounts.length === 0 && `sums nothing: its rows need Minor members that ${stored.type} has`,
        ...(sdl.rowFieldsOf(answer) ?? []).map(({ name: { value: name }, type }) => {
          const [given, wanted] = [print(type), filled.get(name)];
          if (!filled.has(name) && !resolvers[row]?.[name])
            return `has rows with ${name}, but ${stored.type} has no such Minor member to sum: remove it`;
          if (wanted !== undefined && namedType(type) !== wanted)
            return `has rows whose ${name} is ${given}: write ${wanted}`;
          const isNever = GROUPED.includes(name) && type.kind === Kind.NON_NULL_TYPE;
          return isNever && `has rows whose ${name} is ${given}, but null unless totals are grouped by it: remove !`;
        }),
      ];
    },
  },
};
