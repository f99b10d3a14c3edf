import { cpus } from 'node:os';
import mongoose from 'mongoose';
import { NoAnswerError, within } from '../async/timeout';

/** Within what time a server must respond, in milliseconds. */
const ANSWER_TIMEOUT = 1500;
/** The same for a second try if this machine was busy. Also the driver's timeouts, since an earlier one would end that try. */
const LATE_TIMEOUT = 3000;
/** After this time an answer is slow, in milliseconds. */
const SLOW = 200;
/** A machine whose processors were idle for less than this share of the time is busy. */
const IDLE_SHARE = 0.05;

const OPTIONS: mongoose.mongo.MongoClientOptions = {
  serverSelectionTimeoutMS: LATE_TIMEOUT,
  waitQueueTimeoutMS: LATE_TIMEOUT,
  // a connection that was silent this long is not reused
  socketTimeoutMS: LATE_TIMEOUT,
  connectTimeoutMS: LATE_TIMEOUT,
};

/**
 * Checks whether a database answers a question, over a connection of its own, since the pool for commands may have a long queue.
 * Connects on first use; most CLI commands never do.
 */
export function createProbe(uri: string, question: Question) {
  const asker = createAsker(uri, 1);
  let asking: Promise<boolean> | undefined;
  return {
    /** Resolves within 1.5 s, unless this machine is busy. Concurrent calls share one result. */
    responds: (): Promise<boolean> => (asking ??= asker.answers(question).finally(() => (asking = undefined))),
    /** Why it did not respond; only to be asked while it does not. */
    failure: asker.failure,
    close: asker.close,
  };
}

/** What anyone may read of a failure: no addresses. */
export function publicCause(failure: Error): string {
  if (failure instanceof NoAnswerError) return failure.message;
  if (failure instanceof mongoose.mongo.MongoServerError) return `refused (${failure.codeName ?? failure.name})`;
  // of the system, such as ECONNREFUSED
  const code = /\bE[A-Z]{4,}\b/.exec(failure.message)?.[0] ?? failure.name;
  return `no connection (${code})`;
}

type Question = (client: mongoose.mongo.MongoClient) => Promise<unknown>;

/** Asks questions, which are reads of any kind, over at most so many connections of its own. */
export function createAsker(uri: string, connections: number) {
  let connecting: Promise<mongoose.mongo.MongoClient> | undefined;
  /** Why, by address; the driver retries for longer than an answer is waited for, so the errors that it throws come too late. */
  const unreachable = new Map<string, Error>();
  /** What the server answered the last question with, if with an error. */
  let refusal: Error | undefined;

  async function open(): Promise<mongoose.mongo.MongoClient> {
    // the driver refuses a minPoolSize of the URI that is larger
    const client = new mongoose.mongo.MongoClient(uri, { ...OPTIONS, maxPoolSize: connections, minPoolSize: 0 });
    client.on('serverDescriptionChanged', ({ address, newDescription: { error } }) => {
      if (error) unreachable.set(address, error);
      else unreachable.delete(address);
    });
    const connected = await client.connect();
    // the deployment no longer has the server; while connecting, all are closed by a failure, whose reasons must stay
    client.on('serverClosed', ({ address }) => unreachable.delete(address));
    return connected;
  }

  function connect(): Promise<mongoose.mongo.MongoClient> {
    connecting ??= open().catch((error: unknown) => {
      // a client that never connected stays closed, so retry; a connected one reconnects by itself
      connecting = undefined;
      throw error;
    });
    return connecting;
  }

  const answersWithin = (question: Question, patience: number): Promise<boolean> =>
    within(patience, connect().then(question)).then(
      () => true,
      (error: unknown) => {
        refusal = error instanceof mongoose.mongo.MongoServerError ? error : undefined;
        return false;
      },
    );

  return {
    /** Whether a question is answered without an error. Resolves within 1.5 s, unless this machine is busy. */
    async answers(question: Question): Promise<boolean> {
      const wasBusy = watchMachine();
      const isAnswered = await answersWithin(question, ANSWER_TIMEOUT);
      // without this, healthy databases counted as away for seconds while compilers ran on the same machine
      return isAnswered || (wasBusy() && (await answersWithin(question, LATE_TIMEOUT)));
    },
    /** Why the last question was not answered: a server that cannot be reached or, if all can, its error or the time of the first try. */
    failure: (): Error =>
      unreachable.values().next().value ??
      refusal ??
      new NoAnswerError(`no answer within ${String(ANSWER_TIMEOUT)} ms`),
    close: async (): Promise<void> => {
      const client = await connecting?.catch(() => undefined);
      await client?.close();
    },
  };
}

/** Returns a function that says whether, since this call, the process or machine was too busy for a late answer to be the database's fault. */
function watchMachine(): () => boolean {
  const began = performance.now();
  let before: ReturnType<typeof machineTimes> | undefined;
  // few answers are so slow, and reading the times takes a while on a machine with many processors
  const timer = setTimeout(() => (before = machineTimes()), SLOW).unref();
  return () => {
    clearTimeout(timer);
    const took = performance.now() - began;
    if (took < SLOW) return false;
    const now = machineTimes();
    const isBusy = before !== undefined && now.idle - before.idle < IDLE_SHARE * (now.all - before.all);
    return isBusy || took > LATE_TIMEOUT;
  };
}

/** Idle and total time of all processors since the machine started, in milliseconds. */
function machineTimes() {
  const total = { idle: 0, all: 0 };
  for (const { times } of cpus()) {
    total.idle += times.idle;
    total.all += Object.values(times).reduce((sum, time) => sum + time, 0);
  }
  return total;
}
