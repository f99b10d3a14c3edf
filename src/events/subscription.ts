import type { RequestContext } from '../operations/context';
import { type FeedArguments, listenerOf, shown } from './feed';
import { cursorOf, NOW, readRecorded, startOf } from './page';

/* The subscription to an organisation's events (docs/decisions/subscription.md). */

/** Events that are read at once by a stream that is behind. */
const PAGE = 100;

type Arguments = Pick<FeedArguments, 'types' | 'after'>;

export const subscriptionResolvers = {
  Subscription: {
    events: {
      subscribe: async (_: unknown, args: Arguments, context: RequestContext) => {
        const { data, source, wanted } = listenerOf(context, args);
        const after = await startOf(data, context.lastEventId ?? args.after ?? NOW);
        // refuses if none are recorded
        await source.recordedUntil();
        const stream = source.follow(wanted, after, (from, since) =>
          readRecorded(data, source, wanted, { after: from, limit: PAGE, since }),
        );
        let position = after;
        return {
          ended: stream.ended,
          get cursor() {
            return cursorOf(data, position);
          },
          async *[Symbol.asyncIterator]() {
            for await (const row of stream) {
              position = row._id;
              yield { events: shown(data.organisationId, row) };
            }
          },
        };
      },
    },
  },
};
