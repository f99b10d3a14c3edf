import { Argument, type Command } from 'commander';
import { DAY } from '../../units';
import { CommandFailure } from '../common/failure';
import { addExamples } from '../common/help';
import { printJson, say } from '../common/terminal';
import { duration, overlap, uuid } from '../common/values';
import { showKey } from './create';

interface RotateOptions {
  /** Milliseconds. */
  readonly overlap: number;
  /** Milliseconds. */
  readonly expiresIn?: number;
  readonly json?: true;
}

export function addKeyRotate(key: Command): void {
  const command = key
    .command('rotate')
    .description(
      'replace a key with a new one that has the same name, scopes and ranges; the old one keeps working for the overlap',
    )
    .addArgument(new Argument('<id>', 'id of the key (see key list)').argParser(uuid))
    .option(
      '--overlap <time>',
      'how long the old key keeps working: 0, 30m, 24h, 7d; its own expiry still applies',
      overlap,
      DAY,
    )
    .option('--expires-in <time>', 'when the new key expires (default: the same lifetime as the old key)', duration)
    .option('--json', 'print {id, key, prefix, scopes, old: {id, expires_at}} as JSON')
    .action(rotate);
  addExamples(command, [
    'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122',
    'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122 --overlap 0 --expires-in 90d --json',
  ]);
}

async function rotate(id: string, options: RotateOptions): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const expiresAt = options.expiresIn === undefined ? undefined : new Date(Date.now() + options.expiresIn);
  const rotated = await withStore(({ control }) => control.apiKeys.rotate(id, { overlap: options.overlap, expiresAt }));
  if (!rotated) {
    throw new CommandFailure(`no active key ${id}; a revoked or expired key cannot be rotated, create a new one`);
  }
  const { document, key, old } = rotated;
  if (options.json) {
    const { _id, prefix, scopes } = document;
    printJson({ id: _id, key, prefix, scopes, old: { id: old._id, expires_at: old.expires_at } });
    return;
  }
  showKey(rotated);
  say(old.expires_at ? `The old key expires at ${old.expires_at.toISOString()}.` : 'The old key no longer works.');
}
