import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ask, isExecutable } from './execute';
import { mongodPlan } from './plans';
import { whyUnreachable } from './probe';
import { runGuarded } from './process';
import type { EmbeddedOptions, Link, Offer } from './types';

/** A real mongod, downloaded once by mongodb-memory-server. */
export const memoryServerLink: Link = {
  kind: 'memory-server',
  title: "mongodb-memory-server's download of mongod",
  async offer(options, remembered) {
    if (remembered && (await isExecutable(remembered.command))) return offerOf(remembered.command, options.signal);
    const sought = await askLibrary('locate', options);
    if ('mongod' in sought) return offerOf(sought.mongod, options.signal);
    if ('fault' in sought) return { found: false, reason: sought.fault };

    // the library itself takes 6.6 s to detect that the host is unreachable
    const unreachable = await whyUnreachable(new URL(sought.url), options.proxy);
    if (unreachable !== undefined) return { found: false, reason: unreachable };
    options.report(`database: downloading ${sought.url} to ${options.cacheDir} (once, about 100 MB)`);
    const downloaded = await askLibrary('download', options);
    if ('mongod' in downloaded) return offerOf(downloaded.mongod, options.signal);
    return { found: false, reason: 'fault' in downloaded ? downloaded.fault : 'the download contains no mongod' };
  },
};

async function offerOf(command: string, signal?: AbortSignal): Promise<Offer> {
  const output = await ask(command, ['--version'], signal);
  if (!output.ok) return { found: false, reason: `${command} cannot be run: ${output.reason}` };
  const version = /^db version v(\S+)/m.exec(output.text)?.[1] ?? 'of unknown version';
  const origin = 'downloaded by mongodb-memory-server';
  return {
    found: true,
    plan: mongodPlan({ kind: 'memory-server', command, version, storage: 'memory-server', origin }),
  };
}

/** The library's binary, the URL it would download, or an error. */
const answerShape = z.union([
  z.object({ mongod: z.string() }),
  z.object({ url: z.url() }),
  z.object({ fault: z.string() }),
]);
type Answer = z.infer<typeof answerShape>;

/**
 * Runs the library in its own process: it prints stack traces, keeps handles open, cannot be cancelled,
 * and accepts any certificate unless npm_config_strict_ssl is set, which must not affect this process.
 */
const SCRIPT = `
process.env.npm_config_strict_ssl = 'true';
const [library, mode, downloadDir] = process.argv.slice(1);
const { DryMongoBinary, MongoBinary } = require(library);
const { MongoBinaryDownloadUrl } = require(require('node:path').join(library, '../util/MongoBinaryDownloadUrl'));
const say = (answer) => console.log('\\n' + JSON.stringify(answer));
(async () => {
  const options = await DryMongoBinary.generateOptions({ downloadDir });
  const found = mode === 'locate' ? await DryMongoBinary.locateBinary(options) : await MongoBinary.getPath(options);
  if (found) say({ mongod: found });
  else say({ url: await new MongoBinaryDownloadUrl({ platform: process.platform, ...options }).getDownloadUrl() });
})().catch((error) => { say({ fault: error.message.split('\\n')[0] }); process.exit(1); });
`;

async function askLibrary(mode: 'locate' | 'download', { cacheDir, signal }: EmbeddedOptions): Promise<Answer> {
  await mkdir(cacheDir, { recursive: true });
  const logFile = join(cacheDir, `mongod-${mode}-${randomUUID()}.log`);
  const args = ['-e', SCRIPT, require.resolve('mongodb-memory-server-core'), mode, join(cacheDir, 'mongod')];
  try {
    const { text } = await runGuarded({ command: process.execPath, args, logFile }, signal);
    const lines = (await readFile(logFile, 'utf8')).split('\n');
    const answer = lines.map(answerIn).find((said) => said !== undefined);
    return answer ?? { fault: lines.findLast((line) => line !== '') ?? text };
  } finally {
    await rm(logFile, { force: true });
  }
}

function answerIn(line: string): Answer | undefined {
  if (!line.startsWith('{')) return undefined;
  return answerShape.safeParse(JSON.parse(line)).data;
}
