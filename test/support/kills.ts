import type { ChildProcess } from 'node:child_process';
import { openDatabaseProxy } from '../../faults/databaseProxy';
import { type CommandLine, finished } from '../cli/commandLine';

/** Commands that change something, as the driver names them. */
const CHANGES = ['insert', 'update', 'delete', 'findAndModify', 'createIndexes', 'commitTransaction', 'dropDatabase'];

/** Where a command was killed: the last command to the database before that. */
export interface Killed {
  readonly at: string;
}

/**
 * Runs a command whose process is killed (SIGKILL) when the database has carried out its nth change, before the command gets
 * the answer. Undefined if it ended before that. With `isInside`, changes inside of transactions count too.
 */
export async function killedAt(
  cli: CommandLine,
  args: string[],
  nth: number,
  { isInside = false }: { readonly isInside?: boolean } = {},
): Promise<Killed | undefined> {
  let [seen, at] = [0, undefined as string | undefined];
  let child: ChildProcess | undefined;
  const proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI ?? '', {
    onReply: (reply, command) => {
      const [name = '', target] = Object.entries(command ?? {})[0] ?? [];
      // a transaction that is not committed changes nothing
      const isOpen = command?.autocommit === false && name !== 'commitTransaction';
      if (!CHANGES.includes(name) || (isOpen && !isInside)) return reply;
      seen += 1;
      if (seen < nth) return reply;
      at ??= `${name} ${String(target)}`;
      child?.kill('SIGKILL');
      return undefined;
    },
  });
  try {
    child = cli.start(args, { MONGODB_URI: proxy.uri });
    await finished(child);
    return at === undefined ? undefined : { at };
  } finally {
    await proxy.close();
  }
}
