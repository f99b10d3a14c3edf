import { parseArgs } from 'node:util';

export interface Options {
  /** Only checks that everything works: few rounds, little data, no report. */
  readonly isSmoke: boolean;
  readonly rounds: number;
  /** How often the servers of a scenario are started; the rounds are divided among the starts. */
  readonly starts: number;
  /** Duration of one measurement, in seconds. */
  readonly seconds: number;
  /** Names of scenarios; all if undefined. */
  readonly only: readonly string[] | undefined;
  /** Seconds of load on each contestant before its first round, until V8 has compiled the hot paths. */
  readonly warmUp: number;
  readonly warmUps: number;
  /** Labels of the entries to measure; all if undefined. */
  readonly entries: readonly string[] | undefined;
  /** Another checkout, already built, to measure as `before` in the same rounds. */
  readonly before: string | undefined;
  /** How far away the database is, in milliseconds each way. */
  readonly delay: number | undefined;
  /** Folder to which each server writes a CPU profile when it exits. */
  readonly profile: string | undefined;
  readonly help: boolean;
}

export const HELP = `npm run bench -- [options]

Compares Scopegate with bare node:http, Fastify, Sofa and Apollo as in their READMEs, Parse Server, and RESTHeart if RESTHEART_HOME
is the folder of a release, on the same database (MONGOD_BINARY, or else the first one available). Writes bench/report.md and
docs/images/performance.svg, in a quarter of an hour.

  --rounds N       number of rounds; each measures every contestant (default 4)
  --starts N       starts of each server, over which the rounds are divided, since what V8 makes of one differs (default 2)
  --seconds S      duration of one measurement (default 2)
  --warm-up S      seconds of load on each contestant before a scenario's first round (default 2)
  --only A,B       only these scenarios; no report is written
  --entries A,B    only these entries of each scenario (Scopegate, node, …); no report is written
  --before DIR     also measure another checkout, already built; no report is written
  --delay MS       the database is that far away, in milliseconds each way; no report is written
  --smoke          a few requests each, to check that everything works; no Parse Server, no report
  --profile DIR    each server writes a CPU profile there (node --cpu-prof), which makes it slower
  --help
`;

/** @throws Error describing what is wrong with the command line. */
export function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string' },
      starts: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      only: { type: 'string' },
      entries: { type: 'string' },
      before: { type: 'string' },
      delay: { type: 'string' },
      smoke: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    isSmoke: values.smoke,
    rounds: positive('--rounds', values.rounds ?? (values.smoke ? '1' : '4')),
    starts: positive('--starts', values.starts ?? (values.smoke ? '1' : '3')),
    seconds: positive('--seconds', values.seconds ?? (values.smoke ? '0.3' : '2')),
    warmUp: positive('--warm-up', values['warm-up'] ?? (values.smoke ? '0.1' : '2')),
    warmUps: values.smoke ? 1 : 3,
    only: names(values.only),
    entries: names(values.entries),
    before: values.before,
    delay: values.delay === undefined ? undefined : positive('--delay', values.delay),
    profile: values.profile,
    help: values.help,
  };
}

function names(list: string | undefined): string[] | undefined {
  return list?.split(',').filter((name) => name !== '');
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} must be a number above 0`);
  return value;
}
