import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { whyUnreachable } from './ping';
import { ask, isExecutable, planFor } from './programs';
import { type EmbeddedOptions, type Link, Unusable } from './types';

/** A real mongod, downloaded once by mongodb-memory-server. */
export const memoryServerLink: Link = {
  kind: 'memory-server',
  title: "mongodb-memory-server's download of mongod",
  async offer(options, remembered) {
    const isKept = remembered && (await isExecutable(remembered.command));
    const command = isKept ? remembered.command : await findOrDownload(options);
    const binary = { kind: 'memory-server', command, storage: 'memory-server' } as const;
    const origin = 'downloaded by mongodb-memory-server';
    return planFor({ ...binary, origin }, options.signal).catch((error: unknown) => {
      throw new Unusable(`${command} cannot be run: ${(error as Error).message}`);
    });
  },
};

async function findOrDownload(options: EmbeddedOptions): Promise<string> {
  const found = await askLibrary('locate', options);
  if (!/^https?:/.test(found)) return found;
  // the library itself takes 6.6 s to detect that the host is unreachable
  const unreachable = await whyUnreachable(new URL(options.HTTPS_PROXY ?? found));
  if (unreachable !== undefined) throw new Unusable(unreachable);
  options.report(`database: downloading ${found} to ${options.CACHE_DIR} (once, about 100 MB)`);
  return askLibrary('download', options);
}

/**
 * Runs the library in its own process, since it prints stack traces, keeps handles open, cannot be cancelled,
 * and accepts any certificate unless npm_config_strict_ssl is set, which must not affect this process.
 * The last line on stdout is the file or, without one, the URL that `download` would fetch; if neither can be had, stderr says why.
 */
const SCRIPT = `
process.env.npm_config_strict_ssl = 'true';
const [library, mode, downloadDir] = process.argv.slice(1);
const { DryMongoBinary, MongoBinary } = require(library);
const { MongoBinaryDownloadUrl } = require(require('node:path').join(library, '../util/MongoBinaryDownloadUrl'));
(async () => {
  const options = await DryMongoBinary.generateOptions({ downloadDir });
  const found = mode === 'locate' ? await DryMongoBinary.locateBinary(options) : await MongoBinary.getPath(options);
  console.log('\\n' + (found || await new MongoBinaryDownloadUrl({ platform: process.platform, ...options }).getDownloadUrl()));
  process.exit(0);
})().catch((error) => { console.error('\\n' + error.message.split('\\n')[0]); process.exit(1); });
`;

async function askLibrary(mode: 'locate' | 'download', { CACHE_DIR, signal }: EmbeddedOptions): Promise<string> {
  await mkdir(CACHE_DIR, { recursive: true });
  const args = ['-e', SCRIPT, require.resolve('mongodb-memory-server-core'), mode, join(CACHE_DIR, 'mongod')];
  return (await ask(process.execPath, args, { signal, timeout: 0 })).split('\n').at(-1) ?? '';
}
