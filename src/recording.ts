import type { Logger } from 'pino';
import { CALLER_LEFT, type DoneExchange } from './http/accessLog';
import { describeError, redactPath } from './log';
import { type Face, type Metrics, operationLabel } from './metrics';
import type { Control } from './organisations/control';
import { organisationUsageId } from './organisations/keyUsage';
import { createRequestRecorder } from './organisations/requestRecorder';
import { KEY_FACES, type KeyFace } from './organisations/requestFilters';
import { KEY_REFUSALS } from './organisations/requestRows';
import { createUsageCounter } from './organisations/usageCounter';
import { within } from './within';

export interface RecordingOptions {
  readonly control: Pick<Control, 'usage' | 'requests'>;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'usageUncounted' | 'requestsNotLogged'>;
  /** Names of the schema's root fields. */
  readonly operations: readonly string[];
  /** Whether requests are logged (REQUEST_LOG). */
  readonly logs: boolean;
}

/** How long a gateway that stops waits for its last writes, in milliseconds: less than is left of a drain (src/server.ts). */
const LAST_WRITES = 3000;
/** Longest path that is stored. */
const PATH_LENGTH = 200;

/** Records the requests of keys: counts each for the usage of its key and organisation, and adds it to the request log. */
export function createRecording({ control, logger, metrics, operations, logs }: RecordingOptions) {
  const label = operationLabel(operations);
  const usage = createUsageCounter({
    usage: control.usage,
    onError: (error) => {
      logger.warn({ error: describeError(error) }, 'writing usage failed; will retry');
    },
    onUncounted: (requests) => {
      metrics.usageUncounted(requests);
      logger.warn({ requests }, 'the usage of keys lacks requests: more keys are in use than can be written');
    },
  });
  const recorder = logs
    ? createRequestRecorder({
        log: control.requests,
        onError: (error) => {
          logger.warn({ error: describeError(error) }, 'writing the request log failed; will retry');
        },
        onLeftOut: metrics.requestsNotLogged,
      })
    : undefined;

  return {
    /** Records an exchange that is done, if it is one of a key. */
    record: ({ exchange, face, status, ms }: DoneExchange): void => {
      const { principal, refusal, operation, code } = exchange.log;
      const isKey = principal?.kind === 'key';
      const owner = isKey ? { key: principal.key.id, organisation: principal.organisation.id } : refusal?.owner;
      if (!owner) return;
      const failed = code !== undefined || (status >= 400 && status !== CALLER_LEFT);
      if (isKey) {
        usage.count([owner.key, organisationUsageId(owner.organisation)], {
          outcome: status === 429 ? 'rate_limited' : failed ? 'error' : 'ok',
          isMcp: face === 'mcp',
          operation: label(operation),
          code: code !== undefined && /^\w{1,40}$/.test(code) ? code : undefined,
          ms,
        });
      }
      if (!recorder || !isKeyFace(face)) return;
      const [organisation_id, key_id] = [owner.organisation, owner.key];
      recorder.add(
        { organisation_id, key_id, operation: operation ?? null, status, code: code ?? null, failed },
        () => ({
          request_id: exchange.requestId,
          face,
          method: exchange.request.method ?? '',
          path: redactPath(exchange.path).slice(0, PATH_LENGTH),
          ms: Math.round(ms * 10) / 10,
          address: exchange.address,
          reason: KEY_REFUSALS.find((reason) => reason === refusal?.reason) ?? null,
        }),
      );
    },
    /** Writes what is left, unless the database does not answer. */
    async stop(): Promise<void> {
      try {
        await within(LAST_WRITES, Promise.all([usage.stop(), recorder?.stop()]));
      } catch (error) {
        logger.warn({ error: describeError(error) }, 'the last usage and requests of keys were not written');
      }
    },
  };
}

function isKeyFace(face: Face): face is KeyFace {
  return KEY_FACES.some((one) => one === face);
}
