import type { Config } from '../config';
import type { Databases } from '../database/connect';
import type { Control } from '../organisations/control';
import { type Session, userActor } from '../organisations/sessions';
import type { OwnWebhooks } from '../organisations/webhooks';
import { addressPolicy } from './addresses';
import { createManagement, type WebhooksOf } from './management';
import { type MasterSecret, masterSecret } from './masterSecret';
import { dnsNames } from './names';
import { createPoster, type Poster } from './post';
import { senderOf, type Sender } from './sending';
import { webhookSettings } from './settings';

export interface WebhookParts {
  readonly poster: Poster;
  /** What signs and sends; undefined without a master secret. */
  readonly signing: { readonly sender: Sender; readonly secret: MasterSecret } | undefined;
  /** What people do with endpoints. */
  readonly webhooksOf: WebhooksOf;
  /** The webhooks of a signed-in user's organisation, acting from a network address. */
  readonly ofUser: (session: Session, from: string) => OwnWebhooks;
}

/** What a gateway and the command line need for webhooks. */
export function webhookParts({
  config,
  databases,
  control,
}: {
  readonly config: Pick<Config, 'MONGODB_URI' | 'WEBHOOK_SECRET' | 'WEBHOOK_ALLOWED_RANGES'>;
  readonly databases: Databases;
  readonly control: Control;
}): WebhookParts {
  const { master, ranges } = webhookSettings(config);
  const policy = addressPolicy(ranges);
  const resolve = dnsNames();
  const poster = createPoster({ policy, resolve });
  const signing =
    master === undefined
      ? undefined
      : {
          sender: senderOf({ master, poster, now: databases.now }),
          secret: masterSecret({ databases, control }, master),
        };
  const webhooksOf = createManagement({ databases, control, policy, resolve, signing });
  return {
    poster,
    signing,
    webhooksOf,
    ofUser: ({ organisation, user }, from) => webhooksOf(organisation, { actor: userActor(user, from) }, user.name),
  };
}
