import type mongoose from 'mongoose';
import { createCluster } from '../../src/database/cluster';

test('an attempt that fails after the connection was opened leaves nothing that would count twice', async () => {
  const clients: mongoose.mongo.MongoClient[] = [];
  const cluster = createCluster({
    name: 'one',
    uri: process.env.TEST_MONGODB_URI ?? '',
    watchClient: (client) => {
      clients.push(client);
      // the server goes away before it has told its version
      if (clients.length > 1) return;
      const open = client.db.bind(client);
      jest.spyOn(client, 'db').mockImplementation((name, options) => {
        if (name === 'admin') throw new Error('gone');
        return open(name, options);
      });
    },
  });
  try {
    await expect(cluster.reach()).rejects.toThrow('gone');
    const connection = await cluster.reach();
    expect(new Set(clients).size).toBe(clients.length);
    const countOf = (): number => cluster.pool.use().commands.counts.reduce((sum, count) => sum + count, 0);
    const before = countOf();
    await connection.getClient().db('admin').command({ ping: 1 });
    expect(countOf() - before).toBe(1);
    expect(cluster.pool.use().checkedOut).toBe(0);
  } finally {
    await cluster.close();
  }
});
