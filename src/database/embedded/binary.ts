import { resolve, sep } from 'node:path';
import { findOnPath, firstUsable, isExecutable, planFor } from './programs';
import { DatabaseUnavailable, type Link, type ServerPlan, Unusable } from './types';

const NAMES = ['mongod', 'secantusd-rs', 'secantusd'];

/** A database binary that is already installed. */
export const binaryLink: Link = {
  kind: 'binary',
  title: 'a mongod or secantusd-rs binary',
  async offer(options, remembered) {
    const { MONGOD_BINARY, PATH, signal } = options;
    const use = async (command: string): Promise<ServerPlan> => {
      const plan = await planFor({ kind: 'binary', command, storage: 'mongod', origin: command }, signal);
      if (MONGOD_BINARY || !remembered || plan.program === remembered.program) return plan;
      throw new Unusable(`it is ${plan.program}`);
    };
    if (MONGOD_BINARY) return named(MONGOD_BINARY, PATH, use);
    const found = await findOnPath(NAMES, PATH);
    if (!remembered) {
      return firstUsable(found, use, (reasons) =>
        reasons === '' ? 'MONGOD_BINARY is not set, and none was found on PATH' : reasons,
      );
    }
    const { command, program } = remembered;
    // another binary of the same program will do, since an update may have moved it
    const explain = (): string => `neither ${command} nor another ${program} on PATH can be run`;
    return firstUsable([command, ...found], use, explain);
  },
};

/** MONGOD_BINARY must work: falling back to another server would hide the mistake. */
async function named(binary: string, path: string, use: (command: string) => Promise<ServerPlan>): Promise<ServerPlan> {
  const isPath = binary.includes('/') || binary.includes(sep);
  const [command = ''] = isPath ? [resolve(binary)] : await findOnPath([binary], path);
  if (!(await isExecutable(command))) {
    throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which is neither an executable file nor a name on PATH`);
  }
  return use(command).catch((error: unknown) => {
    throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which cannot be used: ${(error as Error).message}`);
  });
}
