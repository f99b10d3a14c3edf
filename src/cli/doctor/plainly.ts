import mongoose from 'mongoose';
import { Finding } from './check';
import { entryOf, ofCluster, plainFinding } from './connection';

/*
 * What is wrong with a URI whose servers are not found although one answers: the driver waits for one that fits all options, and says
 * nothing of one that does not. So the first host is asked again without the options that may be wrong.
 */

/** How long a server has for each question, in milliseconds. */
const ANSWER_WITHIN = 1500;

/** Asks the first host of a URI what is wrong; undefined if it does not answer either, or nothing is. */
export async function askPlainly(cluster: string, uri: string): Promise<Finding | undefined> {
  const host = /^mongodb:\/\/(?:[^@/]*@)?([^/?,]+)/.exec(uri)?.[1];
  if (host === undefined) return undefined;
  const options = new URLSearchParams(/\?(.*)$/.exec(uri)?.[1]);
  const asksForTls = [...options].some(([name, value]) => /^(tls|ssl)$/i.test(name) && value === 'true');
  if (asksForTls && (await helloOf(`mongodb://${host}/`))) return plainFinding(cluster);
  const wanted = [...options].find(([name]) => name.toLowerCase() === 'replicaset')?.[1];
  if (wanted === undefined) return undefined;
  const tls = [...options].filter(([name]) => /^(tls|ssl)/i.test(name));
  const set = (await helloOf(`mongodb://${host}/?${new URLSearchParams(tls).toString()}`))?.setName;
  if (typeof set !== 'string' || set === wanted) return undefined;
  return new Finding(
    `${ofCluster(cluster)}the server is in the replica set ${set}, not ${wanted}`,
    `set replicaSet=${set} in ${entryOf(cluster)}, or correct its hosts`,
  );
}

async function helloOf(uri: string): Promise<{ readonly setName?: unknown } | undefined> {
  const client = new mongoose.mongo.MongoClient(uri, {
    directConnection: true,
    serverSelectionTimeoutMS: ANSWER_WITHIN,
    connectTimeoutMS: ANSWER_WITHIN,
  });
  try {
    return await client.db('admin').command({ hello: 1 });
  } catch {
    return undefined;
  } finally {
    await client.close();
  }
}
