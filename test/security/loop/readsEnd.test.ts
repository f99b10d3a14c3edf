import { makeStocked, IDS } from '../../support/fixtures/contract';
import { callerOf } from '../../support/factories';
import { startGateway } from '../../support/gateway';
import { argumentsOf, CALLS, RELATIONS } from '../../support/operations';
import { recordCommands } from '../../support/recordedCommands';
import { RESOURCES } from '../../support/resources';

test("every read of an organisation's data has a time after which the database stops it", async () => {
  const { proxy, sent } = await recordCommands();
  const gateway = await startGateway({ MONGODB_URI: proxy.uri, CONTROL_DATABASE: 'scopegate_reads' });
  try {
    const organisation = await makeStocked(gateway);
    const caller = await callerOf(gateway, organisation);
    sent.length = 0;
    for (const { operation, face } of CALLS) {
      const headers = operation.kind === 'Mutation' ? { 'idempotency-key': operation.name } : {};
      await face.call(caller, operation, argumentsOf(operation, IDS), headers);
    }
    for (const { document, operation } of RELATIONS)
      await caller.graphql(document, { id: argumentsOf(operation, IDS).id });
    for (const { list } of RESOURCES) await caller.get(`/${list}?updated_since=1970-01-01T00:00:00Z&limit=1`);
  } finally {
    await gateway.stop();
    await proxy.close();
  }
  const reads = sent.filter(({ $db, find, aggregate }) => String($db).startsWith('org_') && (find ?? aggregate));
  const targets = reads.map(({ find, aggregate }) => String(find ?? aggregate));
  expect([...new Set(targets)]).toEqual(expect.arrayContaining([...RESOURCES.map(({ list }) => list), 'open_writes']));
  expect(targets.filter((_target, at) => reads[at]!.maxTimeMS === undefined)).toEqual([]);
});
