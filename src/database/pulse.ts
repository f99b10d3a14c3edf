import mongoose from 'mongoose';

/** How long a server that is asked whether it answers has for that, in milliseconds. */
const ANSWER_WITHIN = 1500;

const OPTIONS: mongoose.mongo.MongoClientOptions = {
  maxPoolSize: 1,
  serverSelectionTimeoutMS: ANSWER_WITHIN,
  waitQueueTimeoutMS: ANSWER_WITHIN,
  // a connection that was silent this long is not asked again
  socketTimeoutMS: ANSWER_WITHIN,
  connectTimeoutMS: ANSWER_WITHIN,
};

/** What is asked. */
export type Question = (client: mongoose.mongo.MongoClient) => Promise<unknown>;

/** Whether a cluster answers, asked over a connection of its own: that of commands may have a long queue. */
export interface Pulse {
  /** Answers within 1.5 s. Who asks while another is asking gets the same answer. */
  readonly isBeating: () => Promise<boolean>;
  close(): Promise<void>;
}

/** Connects when it is first asked: most commands never do. */
export function pulseOf(uri: string, question: Question): Pulse {
  let connecting: Promise<mongoose.mongo.MongoClient> | undefined;
  let asking: Promise<boolean> | undefined;

  function connect(): Promise<mongoose.mongo.MongoClient> {
    connecting ??= mongoose.mongo.MongoClient.connect(uri, OPTIONS).catch((error: unknown) => {
      // a client that never connected stays closed; one that did finds back by itself
      connecting = undefined;
      throw error;
    });
    return connecting;
  }

  const ask = async (): Promise<boolean> => {
    try {
      await question(await connect());
      return true;
    } catch {
      return false;
    }
  };

  return {
    isBeating: () => (asking ??= withinTime(ask()).finally(() => (asking = undefined))),
    close: async () => {
      const client = await connecting?.catch(() => undefined);
      await client?.close();
    },
  };
}

/** False when there is no answer in time; one that lies ready behind a busy event loop is let in first. */
function withinTime(answer: Promise<boolean>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => setImmediate(() => setImmediate(resolve, false)), ANSWER_WITHIN);
    void answer.then(resolve).finally(() => {
      clearTimeout(timer);
    });
  });
}
