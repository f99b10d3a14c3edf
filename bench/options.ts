import { parseArgs } from 'node:util';

export interface Options {
  /** Only shows that everything works: few rounds, little data, nothing written. */
  readonly isSmoke: boolean;
  readonly rounds: number;
  /** Seconds that one contestant is measured in one round. */
  readonly seconds: number;
  /** Names of scenarios; all when undefined. */
  readonly only: readonly string[] | undefined;
  /** Seconds of load on each before its first round: the driver and what stands on it take that long to be compiled. */
  readonly warmUp: number;
  /** Labels of the entries to measure; all when undefined. */
  readonly entries: readonly string[] | undefined;
  /** Another checkout, built, to measure as `before` in the same rounds. */
  readonly before: string | undefined;
  readonly growth: boolean;
  readonly soak: boolean;
  /** Length of the soak. */
  readonly soakMinutes: number;
  /** Folder that every server writes a CPU profile to when it ends. */
  readonly profile: string | undefined;
  readonly help: boolean;
}

export const HELP = `npm run bench -- [options]

Measures Scopegate beside bare node:http, Fastify, Sofa and Apollo as in their READMEs, and Parse Server, over one database
(MONGOD_BINARY, else the first that can be had). Writes bench/report.md, bench/report.json and docs/images/performance.svg.

  --rounds N       rounds, each contestant in turn (default 9)
  --seconds S      length of one measurement (default 2)
  --warm-up S      load on each before its first round of a scenario (default 3)
  --only A,B       these scenarios alone; nothing is written
  --entries A,B    of each scenario these alone (Scopegate, node, …); nothing is written
  --before DIR     another checkout, built, measured in the same rounds; nothing is written
  --growth         also 10^3 to 10^6 quotes and 10 to 5,000 organisations (minutes)
  --soak           also ten minutes of load, watching memory
  --soak-minutes M its length (default 10)
  --smoke          a few requests each, to see that it works; nothing is written, no Parse Server
  --profile DIR    every server writes a CPU profile there (node --cpu-prof); figures are then those of profiled servers
  --help
`;

/** @throws Error with what is wrong about the command line. */
export function readOptions(argv: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      'warm-up': { type: 'string' },
      only: { type: 'string' },
      entries: { type: 'string' },
      before: { type: 'string' },
      growth: { type: 'boolean', default: false },
      soak: { type: 'boolean', default: false },
      'soak-minutes': { type: 'string' },
      smoke: { type: 'boolean', default: false },
      profile: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  return {
    isSmoke: values.smoke,
    rounds: positive('--rounds', values.rounds ?? (values.smoke ? '1' : '9')),
    seconds: positive('--seconds', values.seconds ?? (values.smoke ? '0.3' : '2')),
    warmUp: positive('--warm-up', values['warm-up'] ?? (values.smoke ? '0.1' : '3')),
    only: names(values.only),
    entries: names(values.entries),
    before: values.before,
    growth: values.growth,
    soak: values.soak,
    soakMinutes: positive('--soak-minutes', values['soak-minutes'] ?? (values.smoke ? '0.05' : '10')),
    profile: values.profile,
    help: values.help,
  };
}

function names(list: string | undefined): string[] | undefined {
  return list?.split(',').filter((name) => name !== '');
}

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`${name} takes a number above 0`);
  return value;
}
