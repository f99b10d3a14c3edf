import { type Config, readConfig } from '../../config';
import { checkAddresses } from '../../database/address';
import { OLDEST_MONGODB, OldServerError } from '../../database/version';
import { CommandFailure, messageOf } from '../common/failure';
import { openStore } from '../common/open';
import { interruption } from '../common/signals';
import { note, paint, plain, plainLines, print, printJson, printPainted } from '../common/terminal';
import type { Check } from './check';
import { checkDatabase } from './database';
import { checkNode, checkPepper } from './environment';
import type { DoctorCommandOptions } from './index';
import { checkIndexes } from './indexes';
import { checkRedis } from './redis';

/** `scopegate doctor`. @throws CommandFailure if a check failed. */
export async function doctorCommand(options: DoctorCommandOptions): Promise<void> {
  const checks: Check[] = [];
  for await (const check of examine(options.fix === true)) {
    checks.push(check);
    if (!options.json) show(check);
  }
  const failed = checks.filter(({ ok }) => !ok).length;
  if (options.json) printJson({ ok: failed === 0, checks });
  if (failed > 0) throw new CommandFailure(`${String(failed)} of ${String(checks.length)} checks failed`);
}

/** Every check in order; stops if one fails that the rest depend on. */
async function* examine(fix: boolean): AsyncGenerator<Check> {
  yield checkNode();
  let config: Config;
  try {
    config = readConfig();
    checkAddresses(config);
    yield { name: 'environment', ok: true, detail: 'all variables are valid' };
  } catch (error) {
    yield {
      name: 'environment',
      ok: false,
      detail: messageOf(error),
      fix: 'fix these variables; see scopegate doctor --help for each',
    };
    return;
  }
  yield checkPepper(config);
  yield await checkRedis(config);
  let store: Awaited<ReturnType<typeof openStore>>;
  try {
    store = await openStore(config, note, interruption());
  } catch (error) {
    yield {
      name: 'database',
      ok: false,
      detail: messageOf(error),
      fix:
        error instanceof OldServerError
          ? `upgrade that cluster to MongoDB ${OLDEST_MONGODB} or later`
          : 'start the database that MONGODB_URI points to, or leave MONGODB_URI empty to use the embedded one',
    };
    return;
  }
  try {
    yield* checkDatabase(store);
    yield* checkIndexes(store, fix);
  } finally {
    await store.close();
  }
}

function show({ name, ok, detail, fix }: Check): void {
  const mark = ok ? paint(process.stdout, 'green', 'ok    ') : paint(process.stdout, 'red', 'failed');
  printPainted(`${mark}  ${plain(name)}: ${plainLines(detail)}`);
  if (fix !== undefined) print(`        fix: ${fix}`);
}
