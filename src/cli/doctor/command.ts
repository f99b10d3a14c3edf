import { type Config, readConfig } from '../../config';
import { checkAddress } from '../../mongo/address';
import { CommandFailure, interrupted, interruption, isAbort, messageOf, usageFailure } from '../ending';
import { isUnavailable } from '../../mongo/faults';
import { controlsMeant } from '../../organisations/otherControls';
import type { JsonOption } from '../help';
import { openStore, type Store } from '../store';
import { note, paint, escapeText, escapeLines, print, printJson, printPainted } from '../terminal';
import { type Check, examine, Finding, RUN_AGAIN, type ShownObject } from './check';
import { uriVariable, explainOpening } from '../connection';
import {
  checkNode,
  checkOperatorWebhook,
  checkPepper,
  checkPepperIsSet,
  checkProxy,
  checkRedis,
  checkWebhooks,
} from './environment';
import { checkEvents } from './events';
import { checkSchemaFolder } from './folder';
import { checkIndexes, type Counts } from './indexes';
import { rowsCommand } from './rows';
import { checkClocks, checkDatabase, checkTransactionLimit } from './servers';
import { checkControl, checkSchema } from './control';
import { checkPlans } from './plans';
import { checkRestored } from './restore';
import { settingsForProduction } from './production';
import { checkLogWindow, checkMembers, checkOpenFiles, checkUnseenLimit } from './productionServers';
import { checkFiles, checkStored } from './storage';

interface DoctorOptions extends JsonOption {
  readonly fix?: boolean;
  readonly rows?: boolean;
  readonly production?: boolean;
  readonly org?: string;
}

/** `scopegate doctor`. @throws CommandFailure if a check failed, or the command was interrupted. */
export async function doctorCommand(options: DoctorOptions): Promise<void> {
  const { rows, org, fix = false, production = false, json } = options;
  if (rows && production) throw usageFailure('--production has no meaning with --rows');
  if (rows) return rowsCommand(options);
  if (org !== undefined) throw usageFailure('--org needs --rows');
  const signal = interruption();
  const checks: Check[] = [];
  try {
    for await (const check of examineAll(fix, production, signal)) {
      checks.push(check);
      if (!json) show(check);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!isAbort(error)) throw error;
    throw interrupted('indexes made so far stay, run the same command again to continue');
  }
  const failed = checks.filter(({ ok }) => !ok).length;
  if (json) printJson({ ok: failed === 0, checks });
  if (failed > 0) throw new CommandFailure(`${String(failed)} of ${String(checks.length)} checks failed`);
}

const MARKS = { ok: ['green', 'ok    '], warn: ['yellow', 'warn  '], failed: ['red', 'failed'] } as const;

/** The checks of an open database, in the order in which they are run: what concerns all first. With --fix, each repairs whether or not others fail; the schema version is raised once its indexes are there. */
const STORE_CHECKS = [
  checkPepper,
  checkProxy,
  checkTransactionLimit,
  checkClocks,
  checkEvents,
  checkRestored,
  checkControl,
  checkSchema,
  checkPlans,
  checkSchemaFolder,
  checkWebhooks,
  checkOperatorWebhook,
];

/** Those of --production, in the order of docs/guides/production.md. */
const PRODUCTION_CHECKS = [checkMembers, checkUnseenLimit, checkOpenFiles, checkLogWindow];

const DATABASE = 'database';

/** Runs every check in order; stops if one that the others depend on fails. With `fix`, checks repair what they can. */
async function* examineAll(fix: boolean, production: boolean, signal: AbortSignal): AsyncGenerator<Check> {
  yield await checkNode();
  let config: Config | undefined;
  yield await examine('environment', 'fix these variables; see scopegate doctor --help for each', () => {
    const read = readConfig();
    checkAddress(read);
    config = read;
    return 'all variables are valid';
  });
  if (!config) return;
  if (production) yield* settingsForProduction(config);
  yield checkPepperIsSet(config);
  yield await checkRedis(config);
  let store: Store | undefined;
  const { MONGODB_URI } = config;
  const opening = openStore(config, note, { signal, asIs: !fix });
  const fixDatabase = `start the database that ${uriVariable()} points to, or unset it to use the embedded one`;
  const opened = await examine(DATABASE, fixDatabase, async () => {
    store = await opening.catch(async (error: unknown) => {
      const known = await explainOpening(MONGODB_URI, error);
      throw known ? new Finding(known.detail, known.fix) : error;
    });
    // checkDatabase says what it is connected to
    return '';
  });
  if (!store) {
    yield opened;
    return;
  }
  try {
    for await (const check of checkDatabase(store)) {
      yield check;
      if (check.name === DATABASE && !check.ok) return;
    }
    const context = { store, config, fix, controlsMeant: await controlsMeant(store.databases), signal };
    for (const runCheck of production ? [...STORE_CHECKS, ...PRODUCTION_CHECKS] : STORE_CHECKS) {
      const check = await runCheck(context);
      if (check) yield check;
    }
    const present = new Set(await store.databases.organisationsWithData());
    yield* checkStored(context, present);
    // filled by the check of indexes, for that of files
    const counts = new Map<string, Counts>();
    yield* checkIndexes(context, present, counts);
    yield* checkFiles(context, counts);
  } catch (error) {
    if (!isUnavailable(error)) throw error;
    // it went away meanwhile
    yield { name: DATABASE, ok: false, detail: messageOf(error), fix: RUN_AGAIN };
  } finally {
    await store.close();
  }
}

/** One line of an object that a check counts. */
function objectText({
  kind,
  id,
  organisation_id,
  name,
  prefix = '',
  last_four = '',
  last_used_at: at,
}: ShownObject): string {
  const used = at ? `last used ${at.toISOString()}` : 'never used';
  const key = kind === 'key' ? `, ${prefix}…${last_four} (${name ?? ''}), ${used}` : '';
  return `${kind} ${id} of organisation ${organisation_id}${key}`;
}

function show({ name, ok, detail, fix, objects }: Check): void {
  const [colour, word] = MARKS[ok ? (fix ? 'warn' : 'ok') : 'failed'];
  printPainted(`${paint(process.stdout, colour, word)}  ${escapeText(name)}: ${escapeLines(detail)}`);
  if (objects) {
    for (const object of objects.first) print(`        ${escapeText(objectText(object))}`);
    const more = objects.count - objects.first.length;
    if (more > 0) print(`        and ${String(more)} more`);
  }
  if (fix !== undefined) print(`        fix: ${fix}`);
}
