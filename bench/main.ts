import { bundle } from '../tools/build';
import { describeMachine } from '../tools/facts';
import { cleanUp, cleanUpOnSignals } from '../faults/cleanup';
import { type Contestant, type ContestantName, installPeers, start } from './contestants';
import { quotesOf } from './data';
import { divideCores } from './machine';
import { type Fleet, measure, type MeasuredScenario } from './measure';
import { HELP, type Options, readOptions } from './options';
import { fillParse } from './parse';
import { printScenario, printStartup } from './report/table';
import { type Report, writeReport } from './report/write';
import { fillRestheart, hasRestheart } from './restheart';
import { type Content, delayed, fill, FULL, openRig, QUOTES_PER_CUSTOMER, type Rig, SMOKE } from './rig';
import { scenariosOf, withBefore, withEntries } from './scenarios';
import { measureStartup } from './startup';
import { readTags, verify } from './verify';

/** Prefixes the seconds since the start, so that slow steps are visible. */
const say = (line: string): void => {
  process.stderr.write(`${process.uptime().toFixed(1).padStart(6)} s  ${line}\n`);
};

/** Starts the contestants of the scenarios. */
async function startAll(
  names: ReadonlySet<ContestantName>,
  launch: (name: ContestantName) => Promise<Contestant>,
): Promise<Fleet> {
  const servers = new Map<ContestantName, Contestant>();
  for (const name of names) {
    say(`starting ${name} …`);
    servers.set(name, await launch(name));
  }
  const started = (name: ContestantName): Contestant => {
    const server = servers.get(name);
    if (!server) throw new Error(`${name} is not started`);
    return server;
  };
  return {
    servers: started,
    restart: async (again) => {
      for (const name of again) {
        await started(name).stop();
        servers.set(name, await launch(name));
      }
    },
  };
}

async function run(options: Options): Promise<void> {
  const startedAt = new Date();
  const cores = divideCores();
  say('building …');
  await bundle('dist');
  const scale = options.isSmoke ? SMOKE : FULL;
  const rig = await openRig();
  say(`${rig.database.description}; inserting data …`);
  const content = await fill(rig, scale);
  const far = options.delay === undefined ? rig : await delayed(rig, options.delay);
  const available = (name: ContestantName): boolean =>
    name === 'parse' ? !options.isSmoke : name !== 'restheart' || hasRestheart;
  const all = (tags: ReadonlyMap<string, string>): ReturnType<typeof scenariosOf> =>
    scenariosOf(content, tags, available)
      .filter(({ name, isReported }) => options.only?.includes(name) ?? (options.isSmoke || isReported === true))
      .map((scenario) => (options.before === undefined ? scenario : withBefore(scenario)))
      .map((scenario) => (options.entries ? withEntries(scenario, options.entries) : scenario));
  const names = new Set(all(new Map()).flatMap(({ entries }) => entries.map(({ contestant }) => contestant)));
  if (names.size === 0) throw new Error('--only matches no scenario');
  names.add('scopegate');
  if (names.has('parse')) await installPeers();
  if (names.has('restheart')) await fillRestheart(rig, content);
  const fleet = await startAll(names, (name) =>
    start(name, far, { cores, profile: options.profile, before: options.before }),
  );
  const { servers } = fleet;
  if (names.has('parse')) await copyToParse(rig, servers('parse'), content, scale.lines);
  const tags = await readTags(content, servers('scopegate'), scale.keys / 10);
  const measured: MeasuredScenario[] = [];
  const failures: string[] = [];
  for (const scenario of all(tags)) {
    say(`${scenario.name} …`);
    // the first scenario also warms up code that the others use
    const warmUp = options.warmUp * (measured.length === 0 ? 2 : 1);
    try {
      await verify(scenario, servers);
      const result = await measure(scenario, fleet, { ...options, warmUp });
      printScenario(result);
      measured.push(result);
    } catch (error) {
      // keep the results of the other scenarios; the run still fails at the end
      failures.push(`${scenario.name}: ${String(error)}`);
      say(failures.at(-1) ?? '');
    }
  }
  const isPart = options.only ?? options.entries ?? options.before ?? options.delay;
  const startup =
    (options.only ?? options.entries)
      ? []
      : await measureStartup(rig, content, options.isSmoke ? 1 : 5).catch((error: unknown) => {
          failures.push(`startup: ${String(error)}`);
          return [];
        });
  printStartup(startup);
  const report: Report = {
    startedAt,
    seconds: process.uptime(),
    machine: describeMachine(),
    cores,
    database: rig.database.description,
    options,
    measured,
    failures,
    startup,
  };
  const isWhole = !options.isSmoke && isPart === undefined;
  if (isWhole) say(`written: ${(await writeReport(report)).join(', ')}`);
  if (failures.length > 0) throw new Error(`failed: ${failures.join('; ')}`);
}

async function copyToParse(rig: Rig, server: Contestant, { quotes }: Content, lines: number): Promise<void> {
  say('copying the quotes to Parse Server …');
  const source = quotesOf(1, { lines, perCustomer: QUOTES_PER_CUSTOMER });
  await fillParse(
    rig,
    server,
    quotes.map(() => source.next().value),
  );
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  cleanUpOnSignals();
  try {
    await run(options);
    return 0;
  } finally {
    await cleanUp();
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    process.exit(1);
  },
);
