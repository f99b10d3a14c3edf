import { JSON_TYPE, send } from '../http/answer';
import { createIncomingRequest, type Exchange } from '../http/exchange';
import { requireAcceptsJson } from '../http/requestHead';
import type { DataContext, OpenContext } from '../operations/context';
import type { Attachable } from '../schema/attachables';
import type { RestOperation } from '../schema/declaredOperations';
import { type AttachmentAnswer, deleteAttachment } from '../stored/attachments';
import type { Resource } from '../stored/resource';
import { REST_BASE } from '../units';
import { download } from './download';
import { type Params, readIds } from './parameters';
import { upload } from './upload';
import { writeOnce } from './writeOnce';

/* The routes of attachments (docs/decisions/attachments.md): bytes, which GraphQL has no form for. */

type Answer = (exchange: Exchange, params: Params) => Promise<void>;

interface AttachmentOptions {
  readonly attachables: readonly Attachable[];
  /** The resource of a stored type. */
  readonly resourceOf: (collection: string) => Resource;
  readonly openContext: OpenContext<DataContext>;
  /** Prefix of links to attachments, for clients that need absolute URLs. */
  readonly publicUrl: string | undefined;
  /** Called if the answer to a download breaks off. */
  readonly onError: (error: unknown) => void;
}

/** What answers each route of attachments: for each type that has them upload, download and deletion. */
export function createAttachmentRoutes(options: AttachmentOptions) {
  const { attachables, resourceOf, openContext, publicUrl = '', onError } = options;

  /** A route that opens a context and authorises it before it looks at anything else of a request. */
  const authorised = (
    route: RestOperation,
    answer: (exchange: Exchange, params: Params, context: DataContext) => Promise<void>,
  ): [RestOperation, Answer] => [
    route,
    async (exchange, params) => {
      const context = await openContext(createIncomingRequest(exchange));
      context.authorise(route);
      const work = (): Promise<void> => answer(exchange, params, context);
      await (context.trace ? context.trace(route.name, work) : work());
    },
  ];

  const routesOf = (attachable: Attachable): [RestOperation, Answer][] => {
    const { add, read, remove, stored } = attachable;
    const resource = resourceOf(stored.collection);
    return [
      authorised(add, async (exchange, params, context) => {
        const answer = await upload(exchange, params, context, attachable, resource);
        exchange.response.setHeader('Location', `${publicUrl}${REST_BASE}${pathOf(attachable, answer)}`);
        sendAttachment(exchange, add.rest.status, answer);
      }),
      authorised(read, (exchange, params, context) => download(exchange, params, context, resource, onError)),
      authorised(remove, async (exchange, params, context) => {
        requireAcceptsJson(exchange.request);
        const { id, attachmentId } = readIds(exchange, params);
        const args = { id, attachment_id: attachmentId };
        const answer = await writeOnce(context, remove.name, args, (writing) =>
          deleteAttachment(writing, resource, id, attachmentId),
        );
        sendAttachment(exchange, remove.rest.status, answer);
      }),
    ];
  };

  return new Map(attachables.flatMap(routesOf));
}

function pathOf({ read: { rest } }: Attachable, { attached_to: id, attachment }: AttachmentAnswer): string {
  return rest.path.replace(':id', id).replace(':attachment_id', attachment.id);
}

function sendAttachment(exchange: Exchange, status: number, { attachment }: AttachmentAnswer): void {
  send(exchange, status, JSON_TYPE, JSON.stringify(attachment));
}
