import { firstPage, type ListRequest } from '../../src/database/pagination';

const ROWS = [1, 2, 3].map((nth) => ({
  _id: `id-${String(nth)}`,
  created_at: new Date(nth),
  number: `N-${String(nth)}`,
}));

const REQUEST: Omit<ListRequest, 'conditions'> = {
  organisationId: 'org-1',
  operation: 'quotes',
  args: { limit: 2 },
  filters: { status: ['draft'], customer_id: 'c-1' },
};

function cursorOf(changes: Partial<typeof REQUEST>, rows = ROWS): string | null {
  return firstPage(rows, { ...REQUEST, ...changes }).next_cursor;
}

describe('a page', () => {
  test('has the requested number of rows, and has_more', () => {
    const { data, has_more: hasMore, next_cursor: cursor } = firstPage(ROWS, REQUEST);
    expect(data).toEqual(ROWS.slice(0, 2));
    expect(hasMore).toBe(true);
    expect(cursor).toMatch(/^[\w-]+$/);
  });

  test.each([2, 1, 0])('has no next page after the last %i rows', (count) => {
    const rows = ROWS.slice(0, count);
    expect(firstPage(rows, REQUEST)).toEqual({ data: rows, has_more: false, next_cursor: null });
  });

  test('has 20 rows without a limit or with null', () => {
    const rows = Array.from({ length: 21 }, (_, at) => ({ _id: String(at), created_at: new Date(at) }));
    for (const args of [{}, { limit: null }]) expect(firstPage(rows, { ...REQUEST, args }).data).toHaveLength(20);
  });
});

describe('a cursor', () => {
  test('is the same whatever the order of filters', () => {
    expect(cursorOf({ filters: { customer_id: 'c-1', status: ['draft'] } })).toBe(cursorOf({}));
  });

  test('does not depend on the page size', () => {
    expect(cursorOf({ args: { limit: 1 } }, ROWS.slice(1))).toBe(cursorOf({}));
  });

  test.each<[string, Partial<typeof REQUEST>]>([
    ['organisation', { organisationId: 'org-2' }],
    ['operation', { operation: 'orders' }],
    ['sort', { args: { limit: 2, sort: 'number' } }],
    ['direction', { args: { limit: 2, sort: 'created_at' } }],
    ['default sort', { defaultSort: 'created_at' }],
    ['filter', { filters: { status: ['sent'], customer_id: 'c-1' } }],
    ['set of filters', { filters: { status: ['draft'] } }],
  ])('differs for another %s', (_title, changes) => {
    expect(cursorOf(changes)).not.toBe(cursorOf({}));
  });

  test('does not reveal what it is bound to', () => {
    const text = Buffer.from(cursorOf({})!, 'base64url').toString();
    for (const secret of ['org-1', 'c-1', 'draft']) expect(text).not.toContain(secret);
  });
});
