import { published } from '../../../src/schema/model';
import {
  argumentsWith,
  isFreeText,
  isIgnored,
  type Position,
  positions,
  valueAt,
} from '../../support/attacks/positions';
import { HOSTILE_TEXTS, LONG_TEXT } from '../../support/attacks/texts';
import type { Answer, Json } from '../../support/client';
import { askAll } from '../../support/faces';
import { IDS, makeStocked } from '../../support/fixtures/contract';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { ALL_FACES, type Face, FACES, operations, REST, takesId } from '../../support/operations';

/* Texts sent to writes are stored unchanged or rejected, and never executed. */

const TEXTS = [...HOSTILE_TEXTS, LONG_TEXT];

const gateway = served();
const caller = late(() => callerOf(gateway, makeStocked(gateway)));

/** Whether it is a read-only member of an element, or in one. */
const isInIgnored = (position: Position): boolean => isIgnored({ ...position, steps: position.steps.slice(0, 3) });

const WRITTEN = positions.filter(
  (position) => position.where === 'body' && isFreeText(position) && !isInIgnored(position),
);
const IN_ELEMENTS = WRITTEN.filter(({ operation }) => operation.rest?.path.endsWith('/bulk'));
const IN_REQUESTS = WRITTEN.filter(({ operation }) => operation.name === 'open_request');
const IN_CHANGES = WRITTEN.filter(({ operation }) => takesId(operation));
/** Members that identify an object. */
const KEYS = new Set(['external_ref', ...published.upserts.map(({ key }) => key)]);
const UPSERTS = operations.filter(({ name }) => IN_ELEMENTS.some(({ operation }) => operation.name === name));

test('the positions cover every text of a write in the OpenAPI document', () => {
  expect(WRITTEN.filter((position) => ![...IN_ELEMENTS, ...IN_REQUESTS, ...IN_CHANGES].includes(position))).toEqual([]);
  expect(IN_ELEMENTS.length).toBeGreaterThan(25);
  expect(IN_REQUESTS.length).toBeGreaterThan(5);
});

// over MCP the elements are checked by the same code, and a report of a thousand is shortened (test/api/mcp/answers.test.ts)
describe.each(FACES)('in $name', (face) => {
  test.each(UPSERTS)(
    'a hostile text in any member of $name is read back unchanged, or only its element fails',
    async (operation) => {
      const there = IN_ELEMENTS.filter((position) => position.operation === operation);
      const [list] = there[0]!.steps as [string];
      const attacks = there.flatMap((position) => TEXTS.map((text) => ({ position, text })));
      const elements = attacks.map(({ position, text }) => valueAt(argumentsWith(position, text, IDS), [list, 0]));
      const answer = await face.call(caller, operation, { [list]: elements });
      const { results } = face.valueOf(answer, operation);
      const rows = new Map((await askAll(face, caller, list)).map((row) => [row.id, row]));
      const changed = attacks.filter(({ position: { steps }, text }, at) => {
        const { id, outcome, errors } = results[at];
        const kept = KEYS.has(String(steps.at(-1))) ? text.normalize('NFC') : text;
        return outcome === 'failed' ? errors.length === 0 : valueAt(rows.get(id), steps.slice(2)) !== kept;
      });
      expect(changed.map(({ position, text }) => [position.title, text.slice(0, 50)])).toEqual([]);
      const stored = results.filter(({ outcome }: Json) => outcome !== 'failed').length;
      expect(stored).toBeGreaterThan(attacks.length / 3);
    },
  );
});

describe.each(ALL_FACES)('in $name', (face) => {
  test.each([...IN_REQUESTS, ...IN_CHANGES])(
    'a hostile text in $title is read back unchanged, or rejected',
    async (position) => {
      const changed: object[] = [];
      for (const text of TEXTS) {
        const answer = await face.call(caller, position.operation, argumentsWith(position, text, IDS));
        const error = face.errorOf(answer);
        const read = error ? text : await storedText(face, answer, position);
        const kept = KEYS.has(String(position.steps.at(-1))) ? text.normalize('NFC') : text;
        if ((read !== text && read !== kept) || answer.status >= 500 || error?.status >= 500)
          changed.push({ text, read, error });
      }
      expect(changed).toEqual([]);
    },
  );
});

/** The text as REST reads it: `text` is the body of the last message. */
async function storedText(face: Face, answer: Answer, { operation, steps }: Position): Promise<unknown> {
  const { id, request_id: thread }: Json = face.valueOf(answer, operation);
  const [, list] = operation.rest!.path.split('/');
  if (steps[0] !== 'text' && thread === undefined)
    return valueAt((await caller.get(`/${list!}/${id as string}`)).body, steps);
  const messages = await askAll(REST, caller, 'request_messages', { id: thread ?? id });
  return messages.at(-1)![steps[0] === 'text' ? 'body' : steps[0]!];
}
