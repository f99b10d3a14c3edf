import mongoose from 'mongoose';
import { type Hello, isMongos } from './clock';

/*
 * What a server says when it is asked without the options of the URI that it may not fit: the driver waits for one that fits all of them,
 * and reports nothing about one that does not.
 */

/** How long to wait for each answer, in milliseconds. */
const ANSWER_TIMEOUT = 1500;

/** The value of an option of a URI, in which options can have any case. */
export function optionOf(uri: string, name: 'replicaset' | 'tls' | 'ssl'): string | undefined {
  return optionsOf(uri).find(([option]) => option.toLowerCase() === name)?.[1];
}

const optionsOf = (uri: string): [string, string][] => [...new URLSearchParams(/\?(.*)$/.exec(uri)?.[1])];

/** What the first host of a URI says of itself, asked with the TLS options of the URI or without; undefined if it does not answer in time, and for mongodb+srv. */
export async function plainHello(uri: string, { withTls = true } = {}): Promise<Hello | undefined> {
  const host = /^mongodb:\/\/(?:[^@/]*@)?([^/?,]+)/.exec(uri)?.[1];
  if (host === undefined) return undefined;
  const tls = withTls ? optionsOf(uri).filter(([name]) => /^(tls|ssl)/i.test(name)) : [];
  let client: mongoose.mongo.MongoClient | undefined;
  try {
    // throws for options that it cannot read
    client = new mongoose.mongo.MongoClient(`mongodb://${host}/?${new URLSearchParams(tls).toString()}`, {
      directConnection: true,
      serverSelectionTimeoutMS: ANSWER_TIMEOUT,
      connectTimeoutMS: ANSWER_TIMEOUT,
    });
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return undefined;
  } finally {
    await client?.close();
  }
}

/** Whether a server is in no replica set, nor waits to be put into one by `rs.initiate()`, and is not mongos. */
export function isStandalone(hello: Hello): boolean {
  return hello.setName === undefined && hello.isreplicaset !== true && !isMongos(hello);
}
