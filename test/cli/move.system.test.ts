import mongoose from 'mongoose';
import { openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { killedAt, type KillOptions } from '../support/kills';
import { finished } from './commandLine';
import { contents, databaseOf, move, moveScene } from './moveScene';

/* `org move`, killed, stopped and interrupted after each change that it makes to either cluster. */

const scene = moveScene();

describe.each([['default'], ['eu']])('killed after each change on cluster %s', (cluster) => {
  const options = (): KillOptions => (cluster === 'eu' ? scene.ofEu : {});

  test('a move is completed by running the same command again', async () => {
    const steps: string[] = [];
    for (let nth = 1; ; nth += 1) {
      const one = await scene.organisation();
      const before = await contents(scene.here, one);
      const killed = await killedAt(scene.cli, move(one), nth, options());
      if (killed) steps.push(killed.at);
      await scene.age(one);
      const isDone = (await scene.show(one)).cluster === 'eu';
      const again = await scene.cli.run(...move(one));
      expect({ killed, ...again }).toMatchObject({ killed, code: isDone ? 1 : 0 });
      expect({ killed, is: await contents(scene.there, one) }).toEqual({ killed, is: before });
      expect(await scene.show(one)).toMatchObject({
        cluster: 'eu',
        copies: [{ cluster: 'default', complete: true }],
      });
      expect(await scene.show(one)).not.toHaveProperty('move');
      expect(await scene.write(one)).toMatchObject({ code: 0 });
      if (!killed) break;
    }
    expect(steps).toEqual(
      expect.arrayContaining(
        cluster === 'eu'
          ? ['insert open_writes', 'create products', 'createIndexes products', 'commitTransaction 1']
          : ['commitTransaction 1', 'update open_writes', 'collMod products'],
      ),
    );
  }, 600_000);

  test('a move is undone by --undo', async () => {
    for (let nth = 1; ; nth += 1) {
      const one = await scene.organisation();
      const before = await contents(scene.here, one);
      const killed = await killedAt(scene.cli, move(one), nth, options());
      await scene.age(one);
      if ((await scene.show(one)).cluster === 'eu') break;
      expect({ killed, code: (await scene.write(one)).code }).toEqual({ killed, code: 1 });
      const undone = await scene.cli.run('org', 'move', one.id, '--undo');
      expect({ killed, ...undone }).toMatchObject({ killed, code: 0 });
      expect({ killed, is: await contents(scene.here, one) }).toEqual({ killed, is: before });
      expect({ killed, is: await contents(scene.there, one) }).toEqual({ killed, is: {} });
      const shown = await scene.show(one);
      expect({ killed, shown }).toEqual({ killed, shown: { ...shown, cluster: 'default', state: 'active' } });
      expect(Object.keys(shown)).not.toEqual(expect.arrayContaining(['move']));
      expect({ killed, code: (await scene.write(one)).code }).toEqual({ killed, code: 0 });
      await databaseOf(scene.here, one)
        .collection('products')
        .insertOne({ _id: 'by another program' as never });
    }
  }, 600_000);

  test('an interrupted move undoes itself', async () => {
    for (let nth = 1; ; nth += 1) {
      const one = await scene.organisation();
      const before = await contents(scene.here, one);
      const killed = await killedAt(scene.cli, move(one), nth, { ...options(), signal: 'SIGINT' });
      const { cluster: is } = await scene.show(one);
      // the switch was under way
      if (is === 'eu') break;
      expect(killed).toMatchObject({ code: 130, stderr: expect.stringContaining('the move is undone') as unknown });
      expect({ killed, is: await contents(scene.here, one) }).toEqual({ killed, is: before });
      expect({ killed, is: await contents(scene.there, one) }).toEqual({ killed, is: {} });
      expect({ killed, code: (await scene.write(one)).code }).toEqual({ killed, code: 0 });
    }
  }, 600_000);
});

test('a process that was taken for dead and resumes changes nothing', async () => {
  for (const last of ['insert', 'commitTransaction', 'hello']) {
    const one = await scene.organisation();
    // a second batch follows that of the customers
    expect(await scene.write(one)).toMatchObject({ code: 0 });
    // stopped at its first batch, at the end of it, and while it waits for the clock before the switch
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let reached = (): void => undefined;
    const stopped = new Promise<void>((resolve) => (reached = resolve));
    let inserts = 0;
    const proxy = await openDatabaseProxy(scene.eu.uri, {
      onReply: async (reply, command) => {
        const [name = ''] = Object.keys(command ?? {});
        if (command?.insert === 'customers') inserts += 1;
        const isIt =
          name === last &&
          (last === 'insert' ? inserts === 1 : inserts > 0) &&
          (last !== 'hello' || isQuestion(command));
        if (!isIt) return reply;
        reached();
        await held;
        return reply;
      },
    });
    const first = scene.cli.start(move(one), scene.through(proxy.uri));
    const ended = finished(first);
    await stopped;
    first.kill('SIGSTOP');
    await scene.age(one);
    expect({ last, ...(await scene.cli.run(...move(one))) }).toMatchObject({
      last,
      code: 0,
      stderr: expect.stringContaining('waiting') as unknown,
    });
    // what was deleted in the meantime must not come back
    await databaseOf(scene.there, one).collection('products').deleteMany({});
    const after = await contents(scene.there, one);
    first.kill('SIGCONT');
    letGo();
    const { code, stderr } = await ended;
    expect({ last, code }).toEqual({ last, code: 1 });
    expect(stderr).toContain('is on cluster eu now');
    expect(await contents(scene.there, one)).toEqual(after);
    expect(await scene.show(one)).toMatchObject({ cluster: 'eu' });
    await proxy.close();
  }
}, 120_000);

/** Not one of the driver's own, which have a topology version. */
function isQuestion(command: Readonly<Record<string, unknown>> | undefined): boolean {
  return (
    command !== undefined &&
    command.topologyVersion === undefined &&
    command.client === undefined &&
    command.lsid !== undefined
  );
}

test('a copy that differs from the original is detected, and the move is undone', async () => {
  const one = await scene.organisation();
  const copy = databaseOf(scene.there, one).collection<{ _id: string; name: string }>('products');
  const proxy = await openDatabaseProxy(scene.eu.uri, {
    onReply: async (reply, command) => {
      if (Object.keys(command ?? {})[0] === 'commitTransaction') {
        const row = await copy.findOne({});
        if (row) await copy.updateOne({ _id: row._id }, { $set: { name: `${row.name}!` } });
      }
      return reply;
    },
  });
  const child = scene.cli.start(move(one), scene.through(proxy.uri));
  const { code, stderr } = await finished(child);
  await proxy.close();
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /the copy of products "[0-9a-f-]{36}" differs; the move is undone, and writes continue on cluster default/,
  );
  expect(await contents(scene.there, one)).toEqual({});
  expect(await scene.write(one)).toMatchObject({ code: 0 });
});

test("the switch waits up to 30 s until the new cluster's clock is past every time the old one issued", async () => {
  const one = await scene.organisation();
  let behind = 4000;
  const proxy = await openDatabaseProxy(scene.eu.uri, {
    onReply: (reply, command) => {
      if (command?.hello === undefined && command?.ismaster === undefined) return reply;
      const t = Math.floor((Date.now() - behind) / 1000);
      const operationTime = new mongoose.mongo.Timestamp({ t, i: 1 });
      return replyWith(reply, { localTime: new Date(Date.now() - behind), operationTime });
    },
  });
  const environment = scene.through(proxy.uri);
  const { stdout } = await finished(scene.cli.start([...move(one), '--json'], environment));
  expect((JSON.parse(stdout) as { refused_ms: number }).refused_ms).toBeGreaterThan(3900);
  behind = 40_000;
  const other = await scene.organisation();
  const { code, stderr } = await finished(scene.cli.start(move(other), environment));
  expect(code).toBe(1);
  expect(stderr).toMatch(/clock of cluster eu is (39|40|41) s behind/);
  expect(await scene.show(other)).not.toHaveProperty('move');
  await proxy.close();
}, 60_000);

test('without a terminal too a move says that writes are refused while it lasts, and in lines how far it is', async () => {
  const one = await scene.organisation();
  const { code, stderr } = await scene.cli.run(...move(one));
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /writes of the organisation get 503 from now on, until the move is done or undone; reads go on/,
  );
  expect(stderr).toMatch(/^copying +100% \| 77 documents$/m);
  expect(stderr).toMatch(/^comparing +100% \| 77 documents$/m);
});
