import { openDatabaseProxy } from '../../faults/databaseProxy';
import { type CommandLine, type Environment, finished } from '../cli/commandLine';

/** Commands that change data, as the driver names them. */
const CHANGES = [
  ...['insert', 'update', 'delete', 'findAndModify', 'createIndexes', 'commitTransaction', 'dropDatabase'],
  ...['create', 'collMod'],
];

/** Where a command was killed: its last command to the database. */
export interface Killed {
  readonly at: string;
  readonly code: number | null;
  readonly stderr: string;
}

const DEFAULT = { uri: process.env.TEST_MONGODB_URI ?? '', through: (uri: string) => ({ MONGODB_URI: uri }) };

export interface KillOptions {
  /** Whether changes inside transactions count too. */
  readonly isInside?: boolean;
  /** The server whose changes count, and the variables to reach it through a proxy. */
  readonly server?: { readonly uri: string; readonly through: (proxy: string) => Environment };
  readonly signal?: NodeJS.Signals;
}

/**
 * Runs a command whose process is killed (SIGKILL) when the database has carried out its nth change, before the command gets
 * the answer. Undefined if it ended before that.
 */
export async function killedAt(
  cli: CommandLine,
  args: string[],
  nth: number,
  { isInside = false, server = DEFAULT, signal = 'SIGKILL' }: KillOptions = {},
): Promise<Killed | undefined> {
  let [seen, at] = [0, undefined as string | undefined];
  await using proxy = await openDatabaseProxy(server.uri, {
    onReply: (reply, command) => {
      const [name = '', target] = Object.entries(command ?? {})[0] ?? [];
      // an uncommitted transaction changes nothing
      const isOpen = command?.autocommit === false && name !== 'commitTransaction';
      if (!CHANGES.includes(name) || (isOpen && !isInside)) return reply;
      seen += 1;
      if (seen < nth) return reply;
      // once: a second Ctrl-C would end the command before it has undone its changes
      if (at === undefined) child.kill(signal);
      at ??= `${name} ${String(target)}`;
      // a process that continues must get its reply
      return signal === 'SIGKILL' ? undefined : reply;
    },
  });
  const child = cli.start(args, server.through(proxy.uri));
  const { code, stderr } = await finished(child);
  return at === undefined ? undefined : { at, code, stderr };
}
