import { ask, findOnPath, isExecutable, locate } from './execute';
import { DatabaseUnavailable } from './failures';
import { mongodPlan, secantusRustPlan } from './plans';
import type { EmbeddedOptions, Link, Offer, Remembered, ServerPlan } from './types';

const NAMES = ['mongod', 'secantusd-rs', 'secantusd'];

/** A database binary that is already installed. */
export const binaryLink: Link = {
  kind: 'binary',
  title: 'a mongod or secantusd-rs binary',
  async offer(options, remembered) {
    if (options.mongodBinary !== undefined) {
      return { found: true, plan: await named(options.mongodBinary, options) };
    }
    return remembered ? again(remembered, options) : onPath(options);
  },
};

/** MONGOD_BINARY must work: falling back to another server would hide the mistake. */
async function named(binary: string, options: EmbeddedOptions): Promise<ServerPlan> {
  const command = await locate(binary, options.path);
  if (command === undefined) {
    throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which is neither an executable file nor a name on PATH`);
  }
  const asked = await planFor(command, options.signal);
  if (!asked.found) throw new DatabaseUnavailable(`MONGOD_BINARY is ${binary}, which cannot be used: ${asked.reason}`);
  return asked.plan;
}

async function onPath(options: EmbeddedOptions): Promise<Offer> {
  const found = (await Promise.all(NAMES.map((name) => findOnPath(name, options.path)))).flat();
  const reasons: string[] = [];
  for (const command of found) {
    const asked = await planFor(command, options.signal);
    if (asked.found) return asked;
    reasons.push(`${command}: ${asked.reason}`);
  }
  return { found: false, reason: reasons.join('; ') || 'MONGOD_BINARY is not set, and none was found on PATH' };
}

/** The remembered file, or another binary of the same program, since an update may have moved it. */
async function again(remembered: Remembered, options: EmbeddedOptions): Promise<Offer> {
  const elsewhere = (await Promise.all(NAMES.map((name) => findOnPath(name, options.path)))).flat();
  for (const command of [remembered.command, ...elsewhere]) {
    if (!(await isExecutable(command))) continue;
    const asked = await planFor(command, options.signal);
    if (asked.found && asked.plan.program === remembered.program) return asked;
  }
  return { found: false, reason: `neither ${remembered.command} nor another ${remembered.program} on PATH can be run` };
}

/** A binary is identified by its --version output, not by its name. */
async function planFor(command: string, signal?: AbortSignal): Promise<Offer> {
  const output = await ask(command, ['--version'], signal);
  if (!output.ok) return { found: false, reason: output.reason };
  const mongod = /^db version v(\S+)/m.exec(output.text)?.[1];
  if (mongod !== undefined) {
    const plan = mongodPlan({ kind: 'binary', command, version: mongod, storage: 'mongod', origin: command });
    return { found: true, plan };
  }
  const secantus = /^secantusd\S* (\S+)/m.exec(output.text)?.[1];
  if (secantus !== undefined) return { found: true, plan: secantusRustPlan(command, secantus) };
  return {
    found: false,
    reason: `it is neither mongod nor secantusd-rs (--version says "${output.text.split('\n', 1).join('')}")`,
  };
}
