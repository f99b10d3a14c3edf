import cluster, { type Worker } from 'node:cluster';
import { within } from './within';

/*
 * Questions between the first process of `serve --workers` and its workers, either of which may ask, over the channel of node:cluster. A
 * message between processes costs as much as many of the questions, so those of one turn of the event loop go in one, and so do answers.
 */

/** A question has a name, an answer the number of its question, and either content or why there is none. */
interface Message {
  readonly question?: string;
  readonly number: number;
  readonly content?: unknown;
  readonly failure?: string;
}

/** The other side: one of the workers of this process, or the process that started this one. */
type Other = Pick<NodeJS.Process, 'send'>;

interface Waiting {
  readonly resolve: (content: never) => void;
  readonly reject: (reason: Error) => void;
}

const answers = new Map<string, (content: never) => unknown>();
const waiting = new Map<number, Waiting>();
const outbox = new Map<Other, Message[]>();
let [asked, isListening] = [0, false];

/** Answers a question of the other side from now on. */
export function onAsked(question: string, answer: (content: never) => unknown): void {
  answers.set(question, answer);
  listen();
}

/** @throws Error if the other side does not answer within `patience` ms, or cannot */
export async function ask<Answer>(
  question: string,
  content: unknown,
  patience: number,
  other: Worker | NodeJS.Process = process,
): Promise<Answer> {
  listen();
  const number = (asked += 1);
  const answered = new Promise<Answer>((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    post({ question, number, content }, other);
  });
  try {
    return await within(patience, answered);
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

function receive(other: Other, messages: unknown): void {
  // others use the channel, too
  if (Array.isArray(messages)) for (const message of messages as readonly Message[]) void take(message, other);
}

async function take({ question, number, content, failure }: Message, other: Other): Promise<void> {
  if (question === undefined) {
    const asker = waiting.get(number);
    if (failure === undefined) asker?.resolve(content as never);
    else asker?.reject(new Error(failure));
    return;
  }
  const answer = answers.get(question);
  if (!answer) return;
  try {
    post({ number, content: await answer(content as never) }, other);
  } catch (error) {
    post({ number, failure: String(error) }, other);
  }
}

/** Sends a message with those that follow in this turn. */
function post(message: Message, other: Other): void {
  const others = outbox.get(other);
  if (others) {
    others.push(message);
    return;
  }
  const messages = [message];
  outbox.set(other, messages);
  setImmediate(() => {
    outbox.delete(other);
    other.send?.(messages, undefined, undefined, (error) => {
      // whoever has ended meanwhile needs no answer, and gives none
      if (error)
        for (const { question, number } of messages) if (question !== undefined) waiting.get(number)?.reject(error);
    });
  });
}
