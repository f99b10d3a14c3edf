import { type Answer, type Client, type Json } from '../../support/client';
import { canaryRecords } from '../../support/attacks/canaries';
import { argumentsWith, isText, type Position, positions } from '../../support/attacks/positions';
import { HOSTILE_TEXTS } from '../../support/attacks/texts';
import { callerOf, makeStored } from '../../support/factories';
import { served } from '../../support/gateway';
import { type Face, ALL_FACES, type Ids, operations, REST } from '../../support/operations';
import { RESOURCES } from '../../support/resources';

/* Values sent to reads, and ids sent to writes, are treated as values: never as commands, patterns or paths. */

/** Includes a text close to the maximum length of a URL. */
const TEXTS = [...HOSTILE_TEXTS, 'w'.repeat(5000)];
const HARMLESS = 'wholly-unknown';

let caller: Client;
let ids: Ids;

const gateway = served();
beforeAll(async () => {
  const records = canaryRecords('own');
  const organisation = await makeStored(gateway, records);
  ids = Object.fromEntries(RESOURCES.map(({ list, one }) => [one, records[list][0]!.id])) as unknown as Ids;
  caller = await callerOf(gateway, organisation);
});

const READS = positions.filter(({ where }) => where !== 'body');

/** The positions of an API: `include` of a list only exists in REST. */
const readsOf = (face: Face): Position[] =>
  READS.filter(({ operation: { rest }, steps: [name] }) => face === REST || !(rest?.includes && name === 'include'));

describe.each(ALL_FACES)('in $name', (face) => {
  test.each(readsOf(face))('a hostile text in $title is a client error or matches nothing', async (position) => {
    const harmless = await read(face, position, HARMLESS);
    expect(rowsOf(face, position, harmless)).toBe(0);
    // a number is a value of a filter by one, on REST even as a text
    const texts = TEXTS.filter((text) => isText(position) || !/^-?\d+$/.test(text));
    const surprises = await Promise.all(
      texts.map(async (text) => {
        const answer = await read(face, position, text);
        const rows = rowsOf(face, position, answer);
        if (answer.status < 500 && !hasServerError(answer) && rows === 0) return [];
        return [{ text, rows, status: answer.status, answer: answer.text.slice(0, 200) }];
      }),
    );
    expect(surprises.flat()).toEqual([]);
  });
});

test('the positions cover every read, and every write of one object, in the OpenAPI document', () => {
  expect(READS.filter(isText).length).toBeGreaterThan(30);
  expect(new Set(READS.map(({ operation }) => operation.name)).size).toBe(
    operations.filter(({ kind, name, rest }) => rest && name !== 'me' && (kind === 'Query' || rest.path.includes(':')))
      .length,
  );
});

const LISTS = operations.filter(({ rest }) => rest?.method === 'GET' && !rest.path.includes(':'));

describe('query syntax that other servers parse as an object or operator', () => {
  const NAMES = ['[$ne]', '[$gt]', '[$regex]', '[]', '[0]', '.$ne', '[__proto__][polluted]'];
  const WHOLE = [
    '__proto__',
    '__proto__[polluted]',
    'constructor[prototype][polluted]',
    '$where',
    '$or',
    'toString',
    '',
  ];

  test.each(LISTS)('is an unknown parameter in $name', async ({ name, rest }) => {
    const known = positions.filter(({ operation }) => operation.name === name).map(({ steps }) => String(steps[0]));
    const names = [...known.flatMap((parameter) => NAMES.map((suffix) => parameter + suffix)), ...WHOLE];
    for (const parameter of names) {
      const { status, body } = await caller.get(rest!.path, { [parameter]: '1' });
      expect({ parameter, status, errors: body.errors }).toEqual({
        parameter,
        status: 400,
        // and for a list how to send one
        errors: [{ parameter, code: 'unknown', detail: expect.stringMatching(/^is not a parameter of this route/) }],
      });
    }
    expect('polluted' in {}).toBe(false);
  });
});

async function read(face: Face, position: Position, text: string): Promise<Answer> {
  const isPath = position.where === 'path' && face.name === 'REST';
  // a URL can only contain well-formed text
  const value = isPath ? encodeURIComponent(text.toWellFormed()) : text;
  return face.call(caller, position.operation, argumentsWith(position, value, ids));
}

function rowsOf(face: Face, { operation }: Position, answer: Answer): number {
  if (face.errorOf(answer) !== undefined) return 0;
  const value: Json = face.valueOf(answer, operation);
  return value.data?.length ?? 1;
}

function hasServerError({ body }: Answer): boolean {
  return (body?.errors ?? []).some(({ extensions }: Json) => extensions?.status >= 500);
}
