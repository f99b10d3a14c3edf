import { parseArgs } from 'node:util';
import type { Case, Scale } from './outcome';

export interface Options {
  readonly scale: Scale;
  /** Cases that run one after another, each list on a database of its own beside the others. */
  readonly lanes: readonly (readonly Case[])[];
  readonly seed: number;
  /** Whether all cases run in full, so that the report is written. */
  readonly isWhole: boolean;
}

const FULL: Scale = {
  gatewayKills: 60,
  databaseKills: 20,
  restartRounds: 5,
  changes: 10_000,
  slack: 1,
  endsTransactions: false,
};

const SHORT: Scale = {
  gatewayKills: 3,
  databaseKills: 3,
  restartRounds: 1,
  changes: 500,
  slack: 10,
  endsTransactions: true,
};

/** What shows, within two minutes, that kills and restarts neither lose nor duplicate writes; beside each other, since both lists mostly wait. */
const QUICK = [['kill-gateway'], ['crash-points', 'kill-database', 'rolling-restart']];

export const HELP = `npm run faults -- [options]

Kills and pauses a database and two gateways while clients use them, and compares their answers with what is stored. Writes
docs/reliability.md, in some nine minutes. MONGOD_BINARY sets the database server; the full disk needs root. Exits with 1 if a promise is
broken.

  --quick      less of the kills and restarts alone, in less than two minutes; no report is written
  --only A,B   only these faults; no report is written
  --seed N     other random moments (default 1)
  --help
`;

/** Undefined for --help. @throws Error describing what is wrong with the command line. */
export function readOptions(argv: readonly string[], all: readonly Case[]): Options | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      quick: { type: 'boolean' },
      only: { type: 'string' },
      seed: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return undefined;
  const isQuick = values.quick === true;
  const seed = Number(values.seed ?? 1);
  if (!Number.isInteger(seed)) throw new Error('--seed must be an integer');
  const names = all.map(({ name }) => name);
  const only = values.only?.split(',').filter((name) => name !== '');
  const unknown = only?.filter((name) => !names.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`unknown fault: ${unknown.join(', ')}. Available: ${names.join(', ')}`);
  const wanted = only ? [only] : isQuick ? QUICK : [names];
  return {
    scale: isQuick ? SHORT : FULL,
    lanes: wanted.map((lane) => all.filter(({ name }) => lane.includes(name))),
    seed,
    isWhole: !isQuick && only === undefined,
  };
}
