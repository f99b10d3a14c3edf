import type { Logger } from 'pino';
import type { ExplainedCommand, JsonOption } from '../help';
import type { Config } from '../../config';
import { CommandFailure } from '../ending';
import type { Store } from '../store';
import { print, printJson, sendStderrTo, warn } from '../terminal';
import { SHARE_LIMITS, unsharedLimits } from '../unsharedLimits';

export function addServe(program: ExplainedCommand): void {
  program
    .subcommand('serve', 'serve the API; SIGTERM, SIGHUP or Ctrl-C stop it after accepted requests finish')
    .schema()
    .option('--json', 'print {url} (and admin_url, with ADMIN_PORT) as JSON when ready')
    .environment()
    .examples(
      ['scopegate serve', 'PORT=8080 MONGODB_URI=mongodb://db.example/?replicaSet=rs0 scopegate serve'],
      ['SIGUSR2 switches the log level to debug, and back.'],
      true,
    )
    .action(async ({ json }: JsonOption) => {
      const [{ readConfig }, { createLogger }] = await Promise.all([
        import('../../config/index.js'),
        import('../../log.js'),
      ]);
      const onListening = (url: string, adminUrl: string | undefined): void => {
        if (json) printJson({ url, ...(adminUrl !== undefined && { admin_url: adminUrl }) });
        else print(`listening on ${url}`);
      };
      // before the configuration is read, so that its errors are logged, too
      const stderrLogger = createLogger('info', process.stderr);
      logStderr(stderrLogger);
      const config = readConfig();
      stderrLogger.level = config.LOG_LEVEL;
      const logger = createLogger(config.LOG_LEVEL);
      refuseUnfit(config);
      warnOfUnsharedLimits(config);
      const prepare = async ({ control, databases }: Store) => {
        await control.pepper.adopt();
        await warnOfOtherControl(databases);
        return { onListening };
      };
      const { serveUntilStopped } = await import('./serveUntilStopped.js');
      await serveUntilStopped(config, prepare, { logger, waits: true });
    });
}

/**
 * Unless stderr is a terminal, writes everything for it as lines of the log, so that a log shipper can read them all. The reason for
 * a failed start is written at any log level.
 */
function logStderr(logger: Logger): void {
  if (process.stderr.isTTY) return;
  const always = logger.child({}, { level: 'info' });
  sendStderrTo((level, line) => {
    (level === 'error' ? always : logger)[level](line);
  });
  // replaced, since Node's own listener prints text
  process.removeAllListeners('warning').on('warning', ({ name, message }) => {
    logger.warn({ error: { type: name, message } }, 'warning of the runtime');
  });
}

function warnOfUnsharedLimits(config: Config): void {
  const detail = unsharedLimits(config);
  if (detail !== undefined) warn(`${detail}; ${SHARE_LIMITS}`);
}

/** Warns if the control database is empty beside one with organisations, as a mistyped CONTROL_DATABASE is. */
async function warnOfOtherControl(databases: Store['databases']): Promise<void> {
  const { controlsMeant } = await import('../../organisations/otherControls.js');
  const [meant] = await controlsMeant(databases);
  if (meant === undefined) return;
  const { name } = databases.control;
  warn(
    `the control database ${name} has no organisation, but ${meant} on the same servers has: is CONTROL_DATABASE right?`,
  );
}

/** @throws CommandFailure in production with the embedded database or without a pepper, which are for development */
function refuseUnfit({ NODE_ENV, MONGODB_URI, KEY_PEPPER }: Config): void {
  if (NODE_ENV !== 'production') return;
  const unset = (what: string): CommandFailure => new CommandFailure(`NODE_ENV is production, but ${what}`);
  if (MONGODB_URI === undefined) throw unset('MONGODB_URI is not set: the embedded database is for development');
  if (KEY_PEPPER === '') throw unset('KEY_PEPPER is not set: set it before the first key is created');
}
