import mongoose from 'mongoose';
import { within } from '../within';

/** How long a server has to respond, in milliseconds. */
const ANSWER_WITHIN = 1500;

const OPTIONS: mongoose.mongo.MongoClientOptions = {
  maxPoolSize: 1,
  serverSelectionTimeoutMS: ANSWER_WITHIN,
  waitQueueTimeoutMS: ANSWER_WITHIN,
  // a connection that was silent this long is not reused
  socketTimeoutMS: ANSWER_WITHIN,
  connectTimeoutMS: ANSWER_WITHIN,
};

/** The query to run. */
export type Question = (client: mongoose.mongo.MongoClient) => Promise<unknown>;

export type Pulse = ReturnType<typeof pulseOf>;

/**
 * Checks whether a cluster responds, over its own connection, since the pool for commands may have a long queue. Connects
 * on first use, which most CLI commands never need.
 */
export function pulseOf(uri: string, question: Question) {
  let connecting: Promise<mongoose.mongo.MongoClient> | undefined;
  let asking: Promise<boolean> | undefined;

  function connect(): Promise<mongoose.mongo.MongoClient> {
    connecting ??= mongoose.mongo.MongoClient.connect(uri, OPTIONS).catch((error: unknown) => {
      // a client that never connected stays closed, so retry; a connected one reconnects by itself
      connecting = undefined;
      throw error;
    });
    return connecting;
  }

  const ask = async (): Promise<boolean> => {
    try {
      await within(ANSWER_WITHIN, connect().then(question));
      return true;
    } catch {
      return false;
    }
  };

  return {
    /** Resolves within 1.5 s. Concurrent calls share one result. */
    isBeating: (): Promise<boolean> => (asking ??= ask().finally(() => (asking = undefined))),
    close: async (): Promise<void> => {
      const client = await connecting?.catch(() => undefined);
      await client?.close();
    },
  };
}
