import type * as Post from '../../src/webhooks/post';
import type * as Units from '../../src/units';

/*
 * Stands for `src/webhooks/post` and `src/units` in tests whose receivers leave posts unanswered or refuse them, and which then do several
 * things: a post would end after 15 s and be tried again after 5 s, which a busy machine may need for less.
 *   jest.mock('../../../src/webhooks/post', () => jest.requireActual('../../support/longPosts'));
 *   jest.mock('../../../src/units', () => jest.requireActual('../../support/longPosts'));
 */

const LONG = 600_000;

const units = jest.requireActual<typeof Units>('../../src/units');
// before post, which imports them: from here
module.exports = { ...units, ATTEMPT_WAITS: units.ATTEMPT_WAITS.with(1, LONG) };

const post = jest.requireActual<typeof Post>('../../src/webhooks/post');
Object.assign(module.exports as object, post, {
  createPoster: (options: Parameters<typeof post.createPoster>[0]) =>
    post.createPoster({ within: LONG, bodyWithin: LONG, ...options }),
});
