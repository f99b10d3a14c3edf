import { type Command, type DatabaseProxy, openDatabaseProxy } from '../../faults/databaseProxy';

/** A proxy in front of the test database or another one, and the commands that passed it, also those `sent` before. */
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
