import { type Command, type DatabaseProxy, openDatabaseProxy } from '../../faults/databaseProxy';

/** A proxy to the test database or another one, and the commands that passed it, including those already in `sent`. */
export async function recordCommands(
  uri = process.env.TEST_MONGODB_URI!,
  sent: Command[] = [],
): Promise<{ readonly proxy: DatabaseProxy; readonly sent: Command[] }> {
  const proxy = await openDatabaseProxy(uri, {
    onReply: (reply, command) => {
      if (command) sent.push(command);
      return reply;
    },
  });
  return { proxy, sent };
}
