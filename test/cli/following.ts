import { eventually } from '../http/eventually';
import type { CommandLine, Environment } from './commandLine';

/* Commands that run until they are stopped. */

/** Time that a slow machine needs, in milliseconds. */
const PATIENCE = 40_000;

export interface Followed {
  /** The lines of stdout so far. */
  readonly lines: () => string[];
  readonly stderr: () => string;
  /** Waits until stdout has this many lines, and returns them. */
  until(count: number, patience?: number): Promise<string[]>;
  /** Waits until stderr matches. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it, with a signal if one is given, and returns its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Pauses or resumes reading its stdout. */
  readonly hold: (isHeld: boolean) => void;
}

const running = new Set<Followed>();

/** Ends what a failed test left running. */
afterEach(async () => {
  for (const command of running) await command.end('SIGKILL');
});

export function followed(cli: CommandLine, args: string[], more: Environment = {}): Followed {
  const child = cli.start(args, more);
  let [stdout, stderr] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  let isClosed = false;
  void closed.then(() => (isClosed = true));
  const lines = (): string[] => stdout.split('\n').slice(0, -1);
  const waiting = async <T>(look: () => T, patience = PATIENCE): Promise<NonNullable<T>> => {
    try {
      return await eventually(() => {
        if (isClosed && !look()) throw new Error('it has ended');
        return look();
      }, patience);
    } catch (error) {
      throw new Error(`${String(error)}\nstdout: ${stdout}\nstderr: ${stderr}`, { cause: error });
    }
  };
  const command: Followed = {
    lines,
    stderr: () => stderr,
    until: (count, patience) => waiting(() => (lines().length >= count ? lines() : undefined), patience),
    says: (pattern) => waiting(() => pattern.exec(stderr)),
    async end(signal) {
      if (signal) child.kill(signal);
      const code = await closed;
      running.delete(command);
      return code;
    },
    hold: (isHeld) => child.stdout![isHeld ? 'pause' : 'resume'](),
  };
  running.add(command);
  return command;
}
