import mongoose, { type mongo } from 'mongoose';
import { createDeploymentFeed } from '../../src/events/deploymentFeed';

const { Long, Timestamp } = mongoose.mongo;

test('the position after a page has the time of the last change that was read, though the stream was opened before', async () => {
  const [opened, later] = [1, 2].map((t) => new Timestamp({ t, i: 1 }));
  const renewal = { _id: { _data: 'AA' }, operationType: 'update', clusterTime: later };
  const replies: Record<string, object> = {
    aggregate: {
      operationTime: opened,
      cursor: { id: Long.fromNumber(7), firstBatch: [], postBatchResumeToken: { _data: '00' } },
    },
    getMore: { cursor: { nextBatch: [renewal], postBatchResumeToken: { _data: 'BB' } } },
    killCursors: {},
  };
  const command = (sent: object) => Promise.resolve(replies[Object.keys(sent)[0]!]);
  const client = { db: () => ({ command }), startSession: () => ({ endSession: () => Promise.resolve() }) };
  const streams = () => Promise.resolve(client as unknown as mongo.MongoClient);
  const feed = createDeploymentFeed({ streams, control: { name: 'scopegate' } as mongoose.Connection });
  const page = await feed.read(undefined, { types: undefined, organisationId: undefined }, 20, 0);
  expect(page).toEqual({ events: [], hasMore: false, next: { token: { _data: 'BB' }, at: later } });
});
