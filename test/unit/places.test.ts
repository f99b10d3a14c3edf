import { createPlaces } from '../../src/webhooks/places';

/* Which webhook posts a gateway has in flight; test/webhooks/bounds.system.test.ts tests them in use. */

describe('post slots', () => {
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const NEVER = 60_000;

  test('an organisation has at most 16, endpoints that failed share 16 with 4 per organisation, and a gateway has 64', async () => {
    const places = createPlaces();
    let given = 0;
    const back: (() => void)[] = [];
    const take = (organisation: string, hasFailed = false): void => {
      void places.take({ organisation, endpoint: `of ${organisation}`, hasFailed }, NEVER).then((giveBack) => {
        given += 1;
        back.push(giveBack!);
      });
    };
    for (let at = 0; at < 100; at += 1) take('one');
    await settle();
    expect(given).toBe(16);
    for (let at = 0; at < 10; at += 1) take('two', true);
    await settle();
    expect(given).toBe(20);
    for (let at = 0; at < 90; at += 1) take(`suspect ${String(at)}`, true);
    await settle();
    expect(given).toBe(32);
    for (let at = 0; at < 100; at += 1) take(`other ${String(at)}`);
    await settle();
    expect(given).toBe(64);
    // each one gets its turn, and none is lost
    while (back.length > 0) {
      back.shift()!();
      await settle();
    }
    expect(given).toBe(300);
    expect(places.taken()).toBe(0);
  });

  test('a freed slot goes to the organisation with the fewest, in the order of its posts', async () => {
    const places = createPlaces({ most: { all: 8, organisation: 4, suspects: 8, ownSuspects: 4 } });
    const order: string[] = [];
    const back: (() => void)[] = [];
    const take = (organisation: string, post: number): void => {
      const claim = { organisation, endpoint: organisation, hasFailed: false };
      void places.take(claim, NEVER).then((giveBack) => {
        order.push(`${organisation} ${String(post)}`);
        back.push(giveBack!);
      });
    };
    for (let post = 0; post < 20; post += 1) for (const busy of ['one', 'two', 'three']) take(busy, post);
    await settle();
    expect(places.taken()).toBe(8);
    expect(places.waiting()).toBe(52);
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
    expect([places.taken(), places.waiting()]).toEqual([0, 0]);
  });

  test('a slow endpoint shares the slots of failed ones until it is fast again', async () => {
    const places = createPlaces({ slow: 50 });
    const claim = { organisation: 'one', endpoint: 'slow', hasFailed: false };
    const takeAll = async (): Promise<(() => void)[]> => {
      const taken = await Promise.all(Array.from({ length: 16 }, () => places.take(claim, 0)));
      return taken.filter((giveBack) => giveBack !== undefined);
    };
    const first = await takeAll();
    expect(first).toHaveLength(16);
    await new Promise((resolve) => setTimeout(resolve, 60));
    for (const giveBack of first) giveBack();
    const second = await takeAll();
    expect(second).toHaveLength(4);
    for (const giveBack of second) giveBack();
    expect(await takeAll()).toHaveLength(16);
  });

  test('a post that gets no slot in time goes without one, and takes none from those behind it', async () => {
    const places = createPlaces({ most: { all: 1, organisation: 1, suspects: 1, ownSuspects: 1 } });
    const claim = { organisation: 'one', endpoint: 'one', hasFailed: false };
    const giveBack = await places.take(claim, NEVER);
    const [late, next] = [places.take(claim, 20), places.take(claim, NEVER)];
    expect(await late).toBeUndefined();
    giveBack!();
    (await next)!();
    expect(places.taken()).toBe(0);
  });
});
