import { type Command, type DatabaseProxy, openDatabaseProxy } from '../../faults/databaseProxy';

/** A proxy in front of the test database, and the commands that passed it. */
export async function recordCommands(): Promise<{ readonly proxy: DatabaseProxy; readonly sent: Command[] }> {
  const sent: Command[] = [];
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) => {
      if (command) sent.push(command);
      return reply;
    },
  });
  return { proxy, sent };
}
