import { type Config, readConfig } from '../../config';
import { checkAddresses } from '../../database/address';
import { CommandFailure, EXIT, isAbort } from '../common/failure';
import type { JsonOption } from '../common/help';
import { openStore, type Store } from '../common/open';
import { interruption } from '../common/signals';
import { note, paint, plain, plainLines, print, printJson, printPainted } from '../common/terminal';
import { DEFAULT_CLUSTER } from '../../database/connect';
import { type Check, examine } from './check';
import { checkClusters, checkDatabase, rethrowWithFix } from './database';
import { checkClocks, checkFingerprint, checkNode, checkPepper, checkProxy, checkRedis } from './environment';
import { checkEvents } from './events';
import { checkIndexes } from './indexes';
import { checkMoves, isOfMove, movesOf } from './moves';
import { checkTransactionLimit } from './transactionLimit';
import { checkWebhooks } from './webhooks';
import { checkControl, checkDatabases, checkFiles, databasesByCluster } from './storage';

export interface DoctorOptions extends JsonOption {
  readonly fix?: boolean;
}

/** `scopegate doctor`. @throws CommandFailure if a check failed, or it was interrupted. */
export async function doctorCommand({ fix = false, json }: DoctorOptions): Promise<void> {
  const signal = interruption();
  const checks: Check[] = [];
  try {
    for await (const check of examineAll(fix, signal)) {
      checks.push(check);
      if (!json) show(check);
      signal.throwIfAborted();
    }
  } catch (error) {
    if (!isAbort(error)) throw error;
    throw new CommandFailure(
      'interrupted; indexes made so far stay, run the same command again to continue',
      EXIT.interrupted,
    );
  }
  const failed = checks.filter(({ ok }) => !ok).length;
  if (json) printJson({ ok: failed === 0, checks });
  if (failed > 0) throw new CommandFailure(`${String(failed)} of ${String(checks.length)} checks failed`);
}

/** Every check in order; stops if one fails that the rest depend on. */
async function* examineAll(fix: boolean, signal: AbortSignal): AsyncGenerator<Check> {
  yield await checkNode();
  let config: Config | undefined;
  yield await examine('environment', 'fix these variables; see scopegate doctor --help for each', () => {
    const read = readConfig();
    checkAddresses(read);
    config = read;
    return 'all variables are valid';
  });
  if (!config) return;
  yield checkPepper(config);
  yield await checkRedis(config);
  let store: Store | undefined;
  const opening = openStore(config, note, signal);
  const fixDatabase =
    'start the database that MONGODB_URI points to, or leave MONGODB_URI empty to use the embedded one';
  const opened = await examine('database', fixDatabase, async () => {
    store = await opening.catch(rethrowWithFix(DEFAULT_CLUSTER, config?.MONGODB_URI));
    return '';
  });
  if (!store) {
    yield opened;
    return;
  }
  try {
    yield* checkDatabase(store);
    yield await checkFingerprint(store, config);
    const proxy = await checkProxy(store);
    if (proxy) yield proxy;
    yield* await checkClusters(store, config);
    const limit = await checkTransactionLimit(store);
    if (limit) yield limit;
    yield await checkClocks(store);
    const events = await checkEvents(store);
    if (events) yield events;
    yield await checkControl(store, fix);
    yield await checkWebhooks(store, config);
    const present = await databasesByCluster(store);
    const moves = await movesOf(store);
    yield await checkMoves(store, moves);
    yield await checkDatabases(store, present, isOfMove(moves));
    const inUse = new Map([...present.keys()].map((cluster) => [cluster, 0]));
    const onFiles = (cluster: string, files: number): void => {
      inUse.set(cluster, (inUse.get(cluster) ?? 0) + files);
    };
    yield* checkIndexes(store, { fix, signal, present, onFiles });
    yield* checkFiles(store, inUse);
  } finally {
    await store.close();
  }
}

function show({ name, ok, detail, fix }: Check): void {
  const [colour, word] = !ok
    ? (['red', 'failed'] as const)
    : fix
      ? (['yellow', 'warn  '] as const)
      : (['green', 'ok    '] as const);
  const mark = paint(process.stdout, colour, word);
  printPainted(`${mark}  ${plain(name)}: ${plainLines(detail)}`);
  if (fix !== undefined) print(`        fix: ${fix}`);
}
