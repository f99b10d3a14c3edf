import type { ExplainedCommand } from '../common/help';
import { uuid } from '../common/values';
import type { MoveOptions } from './moveCommand';
import type { DropCopyOptions } from './dropCopyCommand';

const ID = '689defbf-4477-4b15-966e-4830b650ded3';

export function addMove(org: ExplainedCommand): void {
  org
    .command('move')
    .description('move an organisation to another cluster; until it is done its data are only read, and writes get 503')
    .argument('<id>', 'id of the organisation', uuid)
    .option('--to <cluster>', 'cluster from MONGODB_CLUSTERS, or default')
    .option('--undo', 'instead undo a move that was killed: writes go on where the organisation is')
    .option(
      '--json',
      'print {id, from, to, collections, documents, bytes, sha256, refused_ms} as JSON; {id, undone} with --undo',
    )
    .examples(
      [`scopegate org move ${ID} --to eu`, `scopegate org move ${ID} --undo`],
      [
        'Everything is compared before the switch. Ctrl-C or a failure undoes the move; if this process is killed, run the same',
        'command again to continue, or --undo. The old copy stays until scopegate org drop-copy. All gateways must know the cluster.',
      ],
    )
    .action(async (id: string, options: MoveOptions) => (await import('./moveCommand.js')).moveCommand(id, options));
}

export function addDropCopy(org: ExplainedCommand): void {
  org
    .command('drop-copy')
    .description('delete the copies of an organisation that moves have left on other clusters')
    .argument('<id>', 'id of the organisation', uuid)
    .requiredOption('--confirm <name>', 'name of the organisation, to make sure that it is this one')
    .option('--json', 'print {id, dropped}, the names of the clusters, as JSON')
    .examples(
      [`scopegate org drop-copy ${ID} --confirm "Acme Ltd"`],
      ['Within 90 s of the move it waits until no request that began before can still read the copy.'],
    )
    .action(async (id: string, options: DropCopyOptions) =>
      (await import('./dropCopyCommand.js')).dropCopyCommand(id, options),
    );
}
