import { Argument, type Command } from 'commander';
import { CommandFailure } from '../common/failure';
import { teach } from '../common/help';
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

const DAY = 24 * 60 * 60 * 1000;

export function addKeyRotate(key: Command): void {
  const command = key
    .command('rotate')
    .description(
      'make a key in the place of another, with its name, scopes and ranges; the old one goes on for a while',
    )
    .addArgument(new Argument('<id>', 'id of the key, as key list shows it').argParser(uuid))
    .option(
      '--overlap <time>',
      'how long the old key goes on: 0, 30m, 24h, 7d; never longer than it would have',
      overlap,
      DAY,
    )
    .option(
      '--expires-in <time>',
      'when the new key ends; as long a life as the old one was given when left out',
      duration,
    )
    .option('--json', 'print {id, key, prefix, scopes, old: {id, expires_at}} as JSON')
    .action(rotate);
  teach(command, [
    'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122',
    'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122 --overlap 0 --expires-in 90d --json',
  ]);
}

async function rotate(id: string, options: RotateOptions): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const expiresAt = options.expiresIn === undefined ? undefined : new Date(Date.now() + options.expiresIn);
  const rotated = await withStore(({ control }) => control.apiKeys.rotate(id, { overlap: options.overlap, expiresAt }));
  if (!rotated) {
    throw new CommandFailure(`there is no live key ${id}; a revoked or expired key cannot be rotated, make a new one`);
  }
  const { document, key, old } = rotated;
  if (options.json) {
    const { _id, prefix, scopes } = document;
    printJson({ id: _id, key, prefix, scopes, old: { id: old._id, expires_at: old.expires_at } });
    return;
  }
  showKey(rotated);
  say(`The old key ends at ${old.expires_at?.toISOString() ?? 'once'}.`);
}
