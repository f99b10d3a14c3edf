/* The most expensive JSON bodies to parse and validate that we know of. */

export interface WorstBody {
  readonly name: string;
  /** Its error, if it is rejected before it is parsed. */
  readonly code?: string;
  readonly path: '/products/bulk' | '/customers/bulk' | '/requests';
  /** The body, with at most this many bytes. */
  readonly make: (bytes: number) => string;
}

/** As many parts as fit between a head and a tail. */
function filled(bytes: number, head: string, part: (index: number) => string, tail: string): string {
  const parts: string[] = [];
  let left = bytes - head.length - tail.length;
  for (let index = 0; ; index += 1) {
    const next = part(index);
    left -= next.length + 1;
    if (left < 0) return head + parts.join(',') + tail;
    parts.push(next);
  }
}

const many = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_none, index) => make(index));
const nameOf = (number: number): string => `x${number.toString(36)}`;
const names = (count: number, from = 0): string[] => many(count, (index) => nameOf(from + index));
const objectOf = (members: readonly string[]): string => `{${members.map((name) => `"${name}":0`).join(',')}}`;
/** The members in an order derived from a number, so that each object has a different shape. */
function ordered(members: readonly string[], number: number): string[] {
  const left = [...members];
  const taken: string[] = [];
  for (let rest = number; left.length > 0; rest = Math.floor(rest / (left.length + 1))) {
    taken.push(...left.splice(rest % left.length, 1));
  }
  return taken;
}

// sized so that 5 MiB hold just under 1,000 elements
const BAD_CONTACT = '{"name":10,"role":1,"email":1,"phone":1,"primary":1}';
const BROKEN_CONTACT = '{"name":"\\ud800a","role":"\\ud800","phone":"\\ud800"}';
const MEMBERS = 'sku name description category uom currency unit_price_minor vat_exempt lead_time_days active'.split(
  ' ',
);

export const WORST_BODIES: readonly WorstBody[] = [
  ...(['0', 'null', '"a"', '{}', '[]'] as const).map((value): WorstBody => {
    return {
      name: `a list of ${value}`,
      ...(value === '{}' && { code: 'size' }),
      path: '/products/bulk',
      make: (bytes) => filled(bytes, '{"products":[', () => value, ']}'),
    };
  }),
  {
    name: 'numbers that seem whole',
    code: 'size',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', () => '1e-400', ']}'),
  },
  {
    name: 'numbers that nearly seem whole',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', () => '1e-300', ']}'),
  },
  {
    name: 'one long number',
    path: '/requests',
    make: (bytes) => `{"text":1.${'0'.repeat(bytes - 20)}1}`,
  },
  {
    name: 'unknown members',
    code: 'size',
    path: '/requests',
    make: (bytes) => filled(bytes, '{', (at) => `"x${at.toString(36)}":0`, '}'),
  },
  {
    name: 'elements of 5,000 unknown members',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', () => objectOf(names(5000)), ']}'),
  },
  {
    name: 'elements of 100 members that no other has',
    code: 'size',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', (at) => objectOf(names(100, 100 * at)), ']}'),
  },
  {
    // few names and few orders, but their product is what it costs
    name: 'elements of 100 out of 19,000 members',
    code: 'size',
    path: '/products/bulk',
    make: (bytes) => {
      let seed = 1;
      const draw = (): string => {
        seed = (48_271 * seed) % 2_147_483_647;
        return nameOf(seed % 19_000);
      };
      const drawn = (): string[] => {
        const found = new Set<string>();
        while (found.size < 100) found.add(draw());
        return [...found];
      };
      return filled(bytes, '{"products":[', () => objectOf(drawn()), ']}');
    },
  },
  {
    name: 'elements with each member ill-typed',
    path: '/products/bulk',
    make: (bytes) =>
      filled(bytes, '{"products":[', (at) => objectOf(ordered(MEMBERS, at)).replaceAll(':0', ':[0]'), ']}'),
  },
  {
    name: 'elements with their members in any order',
    code: 'size',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', (at) => objectOf(ordered(names(11), 7919 * at)), ']}'),
  },
  {
    name: 'elements with their members in nearly too many orders',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', (at) => objectOf(ordered(names(11), 7919 * (at % 2300))), ']}'),
  },
  {
    name: 'contacts with each member ill-typed',
    path: '/customers/bulk',
    make: (bytes) =>
      filled(bytes, '{"customers":[', () => `{"contacts":[${new Array(100).fill(BAD_CONTACT).join()}]}`, ']}'),
  },
  {
    name: 'contacts of broken texts',
    path: '/customers/bulk',
    make: (bytes) =>
      filled(bytes, '{"customers":[', () => `{"contacts":[${new Array(100).fill(BROKEN_CONTACT).join()}]}`, ']}'),
  },
  {
    name: 'lists in lists',
    code: 'depth',
    path: '/products/bulk',
    make: (bytes) => `{"products":[${'['.repeat(bytes / 2 - 20)}${']'.repeat(bytes / 2 - 20)}]}`,
  },
  {
    name: 'lists that never end',
    code: 'depth',
    path: '/products/bulk',
    make: (bytes) => `{"products":${'['.repeat(bytes - 12)}`,
  },
  {
    name: 'objects in objects',
    code: 'depth',
    path: '/requests',
    make: (bytes) => `${'{"text":'.repeat(bytes / 9 - 1)}0${'}'.repeat(bytes / 9 - 1)}`,
  },
  {
    name: 'one member again and again',
    code: 'duplicate',
    path: '/requests',
    make: (bytes) => filled(bytes, '{', () => '"a":0', '}'),
  },
  {
    name: 'long names',
    path: '/products/bulk',
    make: (bytes) => filled(bytes, '{"products":[', (at) => `{"${String(at)}${'/'.repeat(bytes / 110)}":0}`, ']}'),
  },
  ...(['a.', 'a@a-', 'a@a.'] as const).map((piece): WorstBody => {
    const make = (bytes: number): string => {
      const email = piece.slice(0, -2) + piece.slice(-2).repeat(bytes / 2 - 50);
      return `{"text":"a","contact":{"name":"a","email":"${email}!"}}`;
    };
    return { name: `an address of ${piece}`, path: '/requests', make };
  }),
  {
    name: 'a text of wide characters',
    path: '/products/bulk',
    make: (bytes) => `{"products":[{"sku":"${'\u{1f600}'.repeat(bytes / 4 - 20)}","currency":"${'A'.repeat(40)}"}]}`,
  },
  {
    name: 'a text of escapes',
    path: '/requests',
    make: (bytes) => `{"text":"${'\\\\'.repeat(bytes / 2 - 20)}"}`,
  },
];
