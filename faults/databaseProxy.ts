import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { mongo } from 'mongoose';

/*
 * A proxy in front of the database that parses MongoDB's wire protocol: messages start with their length, their id and the
 * id of the message they answer. Current ones (OP_MSG) have one document, and next to it the rows of a bulk write.
 */

const HEADER = 16;
const OP_MSG = 2013;
/** Offset of an OP_MSG's document, after the header, the flags and the kind of section. */
const BODY = HEADER + 5;
/** Kinds of sections: the document, and a list of documents that belongs to it. */
const BODY_KIND = 0;
const LIST_KIND = 1;

/** The document of a client's command. */
export type Command = Readonly<Record<string, unknown>>;

export interface ProxyOptions {
  /** Gets each reply before the client does; its result, or promise, is sent instead, and nothing if undefined. */
  readonly onReply: (reply: Buffer, command: Command | undefined) => Buffer | undefined | Promise<Buffer | undefined>;
  /** The port to listen on; by default any free one. */
  readonly port?: number;
}

export interface DatabaseProxy extends AsyncDisposable {
  /** Connection string through the proxy. */
  readonly uri: string;
  close(): Promise<void>;
}

export async function openDatabaseProxy(
  target: string,
  { onReply, port: ownPort = 0 }: ProxyOptions,
): Promise<DatabaseProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const commands = new Map<number, Command>();
    const send = (reply: Buffer | undefined): void => {
      if (reply && near.writable) near.write(reply);
    };
    for (const [socket, peer] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket
        .on('error', () => peer.destroy())
        .on('close', () => {
          sockets.delete(socket);
          peer.destroy();
        });
    }
    near.on(
      'data',
      framed((message) => {
        const command = documentOf(message);
        if (command) commands.set(message.readInt32LE(4), command);
        far.write(message);
      }),
    );
    far.on(
      'data',
      framed((message) => {
        const answers = message.readInt32LE(8);
        const reply = onReply(message, commands.get(answers));
        commands.delete(answers);
        // a connection has one command at a time, so delayed replies stay in order
        if (!(reply instanceof Promise)) send(reply);
        else void reply.then(send);
      }),
    );
  });
  server.listen(ownPort, '127.0.0.1');
  await once(server, 'listening');
  const uri = new URL(target);
  uri.host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  // a replica set would return its members' addresses, which bypass the proxy
  uri.searchParams.delete('replicaSet');
  uri.searchParams.set('directConnection', 'true');
  const close = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { uri: uri.href, close, [Symbol.asyncDispose]: close };
}

/** Joins chunks into complete messages, each chunk once: joining at every chunk takes quadratic time for a large message. */
function framed(onMessage: (message: Buffer) => void): (chunk: Buffer) => void {
  let [chunks, size, needed]: [Buffer[], number, number] = [[], 0, HEADER];
  return (chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    let rest = chunks.length === 1 ? chunk : Buffer.concat(chunks);
    needed = HEADER;
    while (rest.length >= HEADER && rest.length >= (needed = rest.readInt32LE(0))) {
      onMessage(rest.subarray(0, needed));
      rest = rest.subarray(needed);
      needed = HEADER;
    }
    [chunks, size] = [rest.length === 0 ? [] : [rest], rest.length];
  };
}

/** The document of an OP_MSG with the lists that belong to it; undefined for other messages. */
export function documentOf(message: Buffer): Command | undefined {
  if (message.readInt32LE(12) !== OP_MSG || message[BODY - 1] !== BODY_KIND) return undefined;
  const end = BODY + message.readInt32LE(BODY);
  const document = mongo.BSON.deserialize(message.subarray(BODY, end));
  for (let at = end; message[at] === LIST_KIND; at += 1 + message.readInt32LE(at + 1)) {
    const nameEnd = message.indexOf(0, at + 5);
    document[message.toString('utf8', at + 5, nameEnd)] = listOf(
      message.subarray(nameEnd + 1, at + 1 + message.readInt32LE(at + 1)),
    );
  }
  return document;
}

function listOf(bytes: Buffer): Command[] {
  const list: Command[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at)) {
    list.push(mongo.BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
  }
  return list;
}

/** The reply with some members changed, or removed if undefined. */
export function replyWith(reply: Buffer, changes: Readonly<Record<string, unknown>>): Buffer {
  const document = documentOf(reply);
  if (!document) return reply;
  const head = Buffer.from(reply.subarray(0, BODY));
  const body = mongo.BSON.serialize({ ...document, ...changes }, { ignoreUndefined: true });
  head.writeInt32LE(BODY + body.length, 0);
  return Buffer.concat([head, body]);
}
