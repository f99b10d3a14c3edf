import { argumentsWith, isIgnored, isText, type Position, positions, valueAt } from '../../support/attacks/positions';
import { HOSTILE_VALUES } from '../../support/attacks/texts';
import { dumpOf } from '../../support/attacks/scene';
import { type Answer, type Json } from '../../support/client';
import { IDS, makeStocked } from '../../support/fixtures/contract';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { argumentsOf, documentOf, type Face, FACES, GRAPHQL } from '../../support/operations';

/* Writes accept only their own members, with values of the right type. */

/** Read-only members of rows, operators of the driver, and names inherited by JavaScript objects. */
const EXTRA = [
  ...['id', '_id', 'organisation_id', 'organisation', 'created_at', 'updated_at', 'search', 'status', 'message_count'],
  ...['last_message_at', 'plan', 'scopes', '__v', '$set', '$unset', '$where', '__proto__', 'constructor', 'lines'],
];

let before: string;

const gateway = served();
const organisation = late(() => makeStocked(gateway));
const caller = late(() => callerOf(gateway, organisation));
beforeAll(async () => {
  before = await dumpOf(gateway, organisation);
});
afterEach(async () => {
  expect(await dumpOf(gateway, organisation)).toBe(before);
  expect('polluted' in {}).toBe(false);
});

const MEMBERS = positions.filter(({ where }) => where === 'body');
const OBJECTS = MEMBERS.filter(({ schema }) => schema.properties !== undefined);
const WRITES = [...new Set(MEMBERS.map(({ operation }) => operation))];

describe.each(FACES)('in $name', (face) => {
  test.each(MEMBERS)('rejects an operator instead of a value in $title and stores nothing', async (position) => {
    const taken = await Promise.all(
      HOSTILE_VALUES.map(async ([value, sent]) => {
        const answer = await face.call(caller, position.operation, argumentsWith(position, sent, IDS));
        return isRefused(face, answer) ? [] : [{ value, status: answer.status, answer: answer.text.slice(0, 200) }];
      }),
    );
    expect(taken.flat()).toEqual([]);
  });

  test.each(OBJECTS)('rejects an unknown member of $title and stores nothing', async (position) => {
    const taken = await Promise.all(
      EXTRA.map(async (extra) => {
        const args = sampleIn(position) as Json;
        const parent: Json = valueAt(args, position.steps.slice(0, -1));
        parent[position.steps.at(-1)!] = withExtra(parent[position.steps.at(-1)!], extra);
        const answer = await face.call(caller, position.operation, args);
        return isRefused(face, answer) && answer.text.includes(extra) ? [] : [{ extra, answer: answer.text }];
      }),
    );
    expect(taken.flat()).toEqual([]);
  });

  test.each(WRITES)('rejects an unknown argument of $name and stores nothing', async (operation) => {
    const args = sampleIn(
      MEMBERS.find((position) => position.operation === operation && !isIgnored(position))!,
      [],
    );
    const taken = await Promise.all(
      EXTRA.map(async (extra) => {
        const document = documentOf(operation).replace(`${operation.name}(`, `${operation.name}(${extra}: "x", `);
        const answer = await (face === GRAPHQL
          ? caller.graphql(document, args as Json)
          : face.call(caller, operation, withExtra(args, extra)));
        return isRefused(face, answer) ? [] : [{ extra, answer: answer.text }];
      }),
    );
    expect(taken.flat()).toEqual([]);
  });
});

test('accepts the same writes without these members', async () => {
  const other = await makeStocked(gateway);
  const writer = await callerOf(gateway, other);
  for (const position of OBJECTS) {
    for (const face of FACES) {
      const answer = await face.call(writer, position.operation, sampleIn(position) as Json);
      expect({ position: position.title, refused: isRefused(face, answer) }).toEqual({
        position: position.title,
        refused: false,
      });
    }
  }
});

/** Valid arguments with an object at the position, or at the root if the position is a member of it. */
function sampleIn({ operation, steps: there }: Position, steps = there): object {
  const isInside = (other: Position): boolean =>
    other.operation === operation &&
    isText(other) &&
    // takes any text
    !('enum' in other.schema || 'format' in other.schema) &&
    !isIgnored(other) &&
    steps.every((step, at) => other.steps[at] === step);
  const text = MEMBERS.find(isInside);
  return text ? argumentsWith(text, 'Sample', IDS) : argumentsOf(operation, IDS);
}

function withExtra(object: object, extra: string): Json {
  // fromEntries creates __proto__ as an own member, as JSON.parse does
  return Object.fromEntries([...Object.entries(object), [extra, { polluted: true }]]);
}

/** Whether a call, or each of its elements, was rejected with a client error. */
function isRefused(face: Face, answer: Answer): boolean {
  const error = face.errorOf(answer);
  if (answer.status >= 500 || error?.status >= 500) return false;
  if (error !== undefined) return true;
  const { failed, results } = Object.values<Json>(answer.body.data ?? { answer: answer.body })[0];
  return results !== undefined && failed === results.length;
}
