import type { Logger } from 'pino';
import type { Config } from '../config';
import type { Databases } from '../tenant/databases';
import { createFailureLog } from '../log';
import type { Control } from '../organisations/control';
import { ownerOf } from '../organisations/webhookRows';
import { createAddressPolicy, dnsNames } from './addresses';
import { createMasterSecret, OTHER_SECRET, RESTORE_PREVIOUS, RESTORE_SECRET } from './masterSecret';
import { createOperatorWebhook } from './operatorWebhook';
import { createPoster } from './post';
import { createSender } from './sending';
import { type WebhookConfig, webhookSettings } from './settings';
import type { Outcome } from './work';
import { createWorkers } from './workers';

interface WebhooksOptions {
  readonly config: WebhookConfig & Partial<Pick<Config, 'EVENTS' | 'OPERATOR_WEBHOOK_URL' | 'OPERATOR_WEBHOOK_SECRET'>>;
  readonly databases: Databases;
  readonly control: Control;
}

/** The parts of webhooks that both the gateway and the command line need. */
export function webhookParts({ config, databases, control }: WebhooksOptions) {
  const { masters, ranges } = webhookSettings(config);
  const policy = createAddressPolicy(ranges);
  const resolve = dnsNames();
  const poster = createPoster({ policy, resolve });
  const secret = masters && createMasterSecret({ databases, control }, masters);
  const signing = secret && { secret, sender: createSender(secret, poster, databases.now) };
  return {
    poster,
    /** What people need to manage endpoints: where they may post, and what signs and sends; without a master secret nothing does. */
    management: { policy, resolve, signing },
  };
}

interface GatewayWebhooksOptions extends WebhooksOptions {
  readonly logger: Logger;
  /** Whether the database of an organisation does not respond. */
  readonly isDown: (organisationId: string) => boolean;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** The webhooks of a gateway: managed by its users, and delivered by its workers. Logs failures. */
export function createWebhooks({ logger, isDown, onOutcome, ...stores }: GatewayWebhooksOptions) {
  const { poster, management } = webhookParts(stores);
  const { signing } = management;
  const logFailure = createFailureLog(logger);
  const workers =
    signing &&
    createWorkers({
      ...stores,
      ...signing,
      isDown,
      onOutcome,
      onDisabled: (endpoint, reason) => {
        const of = { organisation_id: ownerOf(endpoint), webhook_endpoint: endpoint._id };
        logger.warn({ ...of, reason }, 'a webhook endpoint was disabled');
      },
      onError: (error) => {
        logFailure('delivering webhooks failed; will retry', error);
      },
      onOtherSecret: () => {
        logger.error(`webhooks are not sent: ${OTHER_SECRET}; ${RESTORE_SECRET}`);
      },
      onCutShort: (problem) => {
        logger.warn(`${problem}; ${RESTORE_PREVIOUS}`);
      },
    });
  const { OPERATOR_WEBHOOK_URL: url, OPERATOR_WEBHOOK_SECRET: secrets } = stores.config;
  const ofOperator =
    url === undefined || secrets === undefined
      ? undefined
      : createOperatorWebhook({
          ...stores,
          url,
          secrets,
          onOutcome,
          onError: (error) => {
            logFailure("delivering the operator's webhook failed; will retry", error);
          },
          onLost: (from) => {
            logger.error(
              { from },
              "the log of the database no longer has all events; the operator's webhook gets a gap event",
            );
          },
        });
  return {
    management,
    /** Called with organisations that have new events. */
    wake: async (organisations: readonly string[]): Promise<void> => {
      if (await stores.control.webhookLeases.wake(organisations)) workers?.wake();
      await ofOperator?.wake();
    },
    /** Called when this gateway begins to record events. */
    begun: async (): Promise<void> => {
      if (await stores.control.webhookLeases.wakeForSomeCustomers()) workers?.wake();
    },
    start(): void {
      workers?.start();
      ofOperator?.start();
    },
    /** How far the operator's webhook is behind; undefined if there is none. */
    operatorBehind: () => ofOperator?.behind(),
    /** Resolves when posts in progress have ended and nothing more is sent. */
    async stop(): Promise<void> {
      await Promise.all([workers?.stop(), ofOperator?.stop()]);
      poster.close();
    },
    /** Why nothing is sent to endpoints of organisations; all false if it is. */
    resting: () => ({
      events_off: stores.config.EVENTS === 'off',
      no_secret: workers === undefined,
      wrong_secret: workers?.hasOtherSecret() ?? false,
    }),
    /** As in workers.ts; 0 without a master secret. */
    waited: (): number => workers?.waited() ?? 0,
    posting: (): number => workers?.posting() ?? 0,
    postsWaiting: (): number => workers?.postsWaiting() ?? 0,
  };
}
