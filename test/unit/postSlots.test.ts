import { createPostSlots } from '../../src/webhooks/postSlots';

/* Which webhook posts a gateway has in flight; test/api/webhooks/bounds.slow.test.ts tests them in use. */

describe('post slots', () => {
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const NEVER = 60_000;

  test('an organisation has at most 8, and a gateway has 64', async () => {
    const slots = createPostSlots();
    let given = 0;
    const back: (() => void)[] = [];
    const take = (organisation: string): void => {
      void slots.take(organisation, NEVER).then((giveBack) => {
        given += 1;
        back.push(giveBack!);
      });
    };
    for (let at = 0; at < 100; at += 1) take('one');
    await settle();
    expect(given).toBe(8);
    for (let at = 0; at < 100; at += 1) take(`other ${String(at)}`);
    await settle();
    expect(given).toBe(64);
    // each one gets its turn, and none is lost
    while (back.length > 0) {
      back.shift()!();
      await settle();
    }
    expect(given).toBe(200);
    expect(slots.taken()).toBe(0);
  });

  test('a freed slot goes to the organisation with the fewest, in the order of its posts', async () => {
    const slots = createPostSlots({ all: 8, organisation: 4 });
    const order: string[] = [];
    const back: (() => void)[] = [];
    const take = (organisation: string, post: number): void => {
      void slots.take(organisation, NEVER).then((giveBack) => {
        order.push(`${organisation} ${String(post)}`);
        back.push(giveBack!);
      });
    };
    for (let post = 0; post < 20; post += 1) for (const busy of ['one', 'two', 'three']) take(busy, post);
    await settle();
    expect(slots.taken()).toBe(8);
    expect(slots.waiting()).toBe(52);
    order.length = 0;
    // the last to arrive, and the only ones of their organisation
    for (const post of [0, 1]) take('light', post);
    back.shift()!();
    await settle();
    back.shift()!();
    await settle();
    expect(order).toEqual(['light 0', 'light 1']);
    while (back.length > 0) {
      back.shift()!();
      await settle();
    }
    const ofTwo = order.filter((post) => post.startsWith('two'));
    expect(ofTwo).toEqual(Array.from(ofTwo, (_, at) => `two ${String(20 - ofTwo.length + at)}`));
    expect([slots.taken(), slots.waiting()]).toEqual([0, 0]);
  });

  test('a post that gets no slot in time goes without one, and takes none from those behind it', async () => {
    const slots = createPostSlots({ all: 1, organisation: 1 });
    const giveBack = await slots.take('one', NEVER);
    const [late, next] = [slots.take('one', 20), slots.take('one', NEVER)];
    expect(await late).toBeUndefined();
    giveBack!();
    (await next)!();
    expect(slots.taken()).toBe(0);
  });
});
