import { Option } from 'commander';
import { DAY } from '../../units';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { printJson, say } from '../common/terminal';
import { lifetime, overlap, uuid } from '../common/values';
import { withStore } from '../common/withStore';
import { endOf, jsonOf, showKey } from './made';
import { notActive } from './notActive';

interface RotateOptions extends JsonOption {
  /** Milliseconds. */
  readonly overlap: number;
  /** Milliseconds. */
  readonly expiresIn?: number;
}

export function addRotate(key: ExplainedCommand): void {
  key
    .command('rotate')
    .description(
      'replace a key with a new one that has the same name, scopes and ranges; the old one keeps working for the overlap',
    )
    .argument('<id>', 'id of the key (see key list)', uuid)
    .addOption(
      new Option(
        '--overlap <time>',
        'how long the old key keeps working: 0, 30m, 24h, 7d; its own expiry still applies',
      )
        .argParser(overlap)
        .default(DAY, '24h'),
    )
    .option(
      '--expires-in <time>',
      'when the new key expires: 30m, 12h, 90d, 1y (default: the same lifetime as the old key)',
      lifetime('Without --expires-in it lasts as long as the old key did.'),
    )
    .option('--json', 'print {id, key, prefix, scopes, old: {id, expires_at}} as JSON')
    .examples([
      'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122',
      'scopegate key rotate 7e3143c1-62cb-491a-bcf5-b80409d22122 --overlap 0 --expires-in 90d --json',
    ])
    .action(async (id: string, { overlap, expiresIn, json }: RotateOptions) => {
      const rotated = await withStore(async (store) => {
        const { control, databases } = store;
        await control.pepper.adopt();
        const made = await control.apiKeys.rotate(id, { overlap, expiresAt: endOf(expiresIn, databases.now()) });
        if (!made) throw await notActive(store, id, 'rotated');
        return made;
      });
      const { _id: oldId, expires_at: end } = rotated.old;
      if (json) printJson({ ...jsonOf(rotated), old: { id: oldId, expires_at: end } });
      else {
        showKey(rotated);
        say(end ? `The old key expires at ${end.toISOString()}.` : 'The old key no longer works.');
      }
    });
}
