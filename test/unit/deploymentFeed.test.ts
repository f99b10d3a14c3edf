import mongoose, { type mongo } from 'mongoose';
import { createDeploymentFeed } from '../../src/events/deploymentFeed';

const { Timestamp } = mongoose.mongo;

test('the position after a page has the time of the last change that was read, though the stream was opened before', async () => {
  const [opened, later] = [1, 2].map((t) => new Timestamp({ t, i: 1 }));
  const renewal = { _id: { _data: 'AA' }, operationType: 'update', clusterTime: later };
  const cursor = {
    postBatchResumeToken: { _data: '00' },
    closed: false,
    once: (_name: string, listener: (reply: object) => void) => {
      listener({ operationTime: opened });
    },
    cursorInit: () => Promise.resolve(),
    tryNext() {
      this.postBatchResumeToken = { _data: 'BB' };
      return Promise.resolve(renewal);
    },
    readBufferedDocuments: () => [],
  };
  const watch = () => ({
    cursor,
    close: () => Promise.resolve(),
  });
  const client = { watch };
  const streams = () => Promise.resolve(client as unknown as mongo.MongoClient);
  const feed = createDeploymentFeed({ streams, control: { name: 'scopegate' } as mongoose.Connection });
  const page = await feed.read(undefined, { types: undefined, organisationId: undefined }, 20, 0);
  expect(page).toEqual({ events: [], hasMore: false, next: { token: { _data: 'BB' }, at: later } });
});
