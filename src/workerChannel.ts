import cluster, { type Worker } from 'node:cluster';
import { within } from './within';

/*
 * Questions and answers between the primary process of `serve --workers` and its workers, in both directions, over node:cluster's channel.
 * A message between processes costs more than many questions do, so all messages from one turn of the event loop are sent together.
 */

/** A question has a name; an answer has the number of its question, and either content or the reason for a failure. */
interface Message {
  readonly question?: string;
  readonly number: number;
  readonly content?: unknown;
  readonly failure?: string;
}

/** The other side: a worker of this process, or its primary. */
type Peer = Pick<NodeJS.Process, 'send'>;

interface Waiting {
  readonly resolve: (content: never) => void;
  readonly reject: (reason: Error) => void;
}

const answers = new Map<string, (content: never) => unknown>();
const waiting = new Map<number, Waiting>();
const outbox = new Map<Peer, Message[]>();
let [asked, isListening] = [0, false];

/** From now on, answers this question when the other side asks it. */
export function onAsked(question: string, answer: (content: never) => unknown): void {
  answers.set(question, answer);
  listen();
}

/** Asks the other side. @throws Error if it does not answer within `timeout` ms, or fails */
export async function ask<Answer>(
  question: string,
  content: unknown,
  timeout: number,
  peer: Worker | NodeJS.Process = process,
): Promise<Answer> {
  listen();
  const number = (asked += 1);
  const answered = new Promise<Answer>((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    post({ question, number, content }, peer);
  });
  try {
    return await within(timeout, answered);
  } finally {
    waiting.delete(number);
  }
}

function listen(): void {
  if (isListening) return;
  isListening = true;
  if (cluster.isPrimary) cluster.on('message', receive);
  else process.on('message', receive.bind(undefined, process));
}

function receive(peer: Peer, messages: unknown): void {
  // libraries send other messages over the same channel
  if (Array.isArray(messages)) for (const message of messages as readonly Message[]) void take(message, peer);
}

async function take({ question, number, content, failure }: Message, peer: Peer): Promise<void> {
  if (question === undefined) {
    const asker = waiting.get(number);
    if (failure === undefined) asker?.resolve(content as never);
    else asker?.reject(new Error(failure));
    return;
  }
  const answer = answers.get(question);
  if (!answer) return;
  try {
    post({ number, content: await answer(content as never) }, peer);
  } catch (error) {
    post({ number, failure: String(error) }, peer);
  }
}

/** Sends a message together with those that follow in this turn. */
function post(message: Message, peer: Peer): void {
  const pending = outbox.get(peer);
  if (pending) {
    pending.push(message);
    return;
  }
  const messages = [message];
  outbox.set(peer, messages);
  setImmediate(() => {
    outbox.delete(peer);
    peer.send?.(messages, undefined, undefined, (error) => {
      // a process that has ended needs no answers, and gives none
      if (error)
        for (const { question, number } of messages) if (question !== undefined) waiting.get(number)?.reject(error);
    });
  });
}
