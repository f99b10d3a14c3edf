import { randomUUID } from 'node:crypto';
import { callerOf } from '../support/factories';
import { late, served } from '../support/gateway';
import { argumentsOf, CALLS, takesId } from '../support/operations';
import { IDS, makeStocked, SAME_ID, seen } from '../support/fixtures/contract';

const gateway = served();
/** A caller of the organisation with the rows of IDS. */
const owner = late(() => callerOf(gateway, makeStocked(gateway)));
/** A caller of another organisation. */
const stranger = late(() => callerOf(gateway));

test.each(CALLS.filter(({ operation }) => takesId(operation)))(
  "another organisation's object $operation.name over $face.name gives the same bytes as an id that never existed",
  async ({ operation, face }) => {
    const args = argumentsOf(operation, IDS);
    expect(face.errorOf(await face.call(owner, operation, args))).toBeUndefined();
    const foreign = await face.call(stranger, operation, args, SAME_ID);
    const nowhere = await face.call(stranger, operation, { ...args, id: randomUUID() }, SAME_ID);
    expect(foreign.status).toBe(face.name === 'REST' ? 404 : 200);
    expect(face.errorOf(foreign)).toMatchObject({ code: 'not_found', status: 404 });
    expect(seen(foreign)).toEqual(seen(nowhere));
  },
);
