import { context, type Span, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import type { mongo } from 'mongoose';

/** Maximum open spans of a client's commands. Beyond it the oldest is ended: its command probably never gets an answer. */
const MAX_OPEN = 10_000;

/** Returns a function that makes spans for the commands that a client sends for requests. They name command and collection, never what is sought or found. */
export function commandSpans(tracer: Tracer) {
  return (client: mongo.MongoClient): void => {
    const open = new Map<number, Span>();

    function end(requestId: number): Span | undefined {
      const span = open.get(requestId);
      open.delete(requestId);
      return span;
    }

    client
      .on('commandStarted', ({ requestId, commandName, databaseName, command, address }) => {
        // pings and other work of the gateway itself belong to no trace
        if (trace.getActiveSpan() === undefined) return;
        const [oldest] = open.keys();
        if (oldest !== undefined && open.size >= MAX_OPEN) end(oldest)?.end();
        const target = collectionOf(command, commandName);
        const attributes = {
          'db.system.name': 'mongodb',
          'db.operation.name': commandName,
          'db.namespace': databaseName,
          ...(target !== undefined && { 'db.collection.name': target }),
          ...serverOf(address),
        };
        const name = target === undefined ? commandName : `${commandName} ${target}`;
        open.set(requestId, tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, context.active()));
      })
      .on('commandSucceeded', ({ requestId }) => {
        end(requestId)?.end();
      })
      .on('commandFailed', ({ requestId, failure }) => {
        const { code } = failure as mongo.MongoServerError;
        end(requestId)
          ?.setAttributes({
            'error.type': failure.name,
            ...(code !== undefined && { 'db.response.status_code': String(code) }),
          })
          .setStatus({ code: SpanStatusCode.ERROR })
          .end();
      });
  };
}

/** The collection of a command: in most, it is the value of the member named after the command; getMore has a member for it. */
function collectionOf(command: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const target = name === 'getMore' ? command.collection : command[name];
  return typeof target === 'string' ? target : undefined;
}

function serverOf(address: string): Record<string, string | number> {
  const [, host = address, port] = /^(.*):(\d+)$/.exec(address) ?? [];
  return { 'server.address': host, ...(port !== undefined && { 'server.port': Number(port) }) };
}
