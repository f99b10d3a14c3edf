import { parseArgs } from 'node:util';
import type { Case, Scale } from './outcome';

export interface Options {
  readonly isShort: boolean;
  readonly scale: Scale;
  readonly cases: readonly Case[];
  readonly seed: number;
  /** Whether all cases run in full, so that the report is written. */
  readonly isWhole: boolean;
}

const FULL: Scale = {
  gatewayKills: 60,
  databaseKills: 20,
  databaseStop: 30_000,
  restartRounds: 5,
  holds: [1000, 5000, 12_000, 30_000],
  agesDeadWrites: false,
  heavySeconds: 20,
  changes: 10_000,
  moves: 20,
  slack: 1,
};

const SHORT: Scale = {
  gatewayKills: 3,
  databaseKills: 3,
  databaseStop: 3000,
  restartRounds: 1,
  holds: [500, 1500, 3000],
  agesDeadWrites: true,
  heavySeconds: 3,
  changes: 500,
  moves: 3,
  slack: 10,
};

/** What shows, within two minutes, that kills and restarts neither lose nor duplicate writes. */
const QUICK = ['kill-gateway', 'crash-points', 'kill-database', 'rolling-restart'];

/** One takes too long to run on every change, and needs root; the others are run by themselves, on a server that is fast enough. */
const NOT_IN_SHORT = ['full-disk', 'moves', 'events'];

/** @throws Error describing what is wrong with the command line. */
export function readOptions(argv: readonly string[], all: readonly Case[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean' },
      short: { type: 'boolean' },
      only: { type: 'string' },
      seed: { type: 'string' },
    },
  });
  const isQuick = values.quick === true;
  const isShort = isQuick || values.short === true;
  const seed = Number(values.seed ?? 1);
  if (!Number.isInteger(seed)) throw new Error('--seed must be an integer');
  const names = all.map(({ name }) => name);
  const only = values.only?.split(',').filter((name) => name !== '');
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown fault: ${unknown.join(', ')}. Available: ${names.join(', ')}`);
  const short = isQuick ? QUICK : names.filter((name) => !NOT_IN_SHORT.includes(name));
  const wanted = only ?? (isShort ? short : names);
  return {
    isShort,
    scale: isShort ? SHORT : FULL,
    cases: all.filter(({ name }) => wanted.includes(name)),
    seed,
    isWhole: !isShort && only === undefined,
  };
}
