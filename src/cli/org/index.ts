import type { ExplainedCommand } from '../common/help';
import { addErase } from './erase';
import { addList } from './list';
import { addDropCopy, addMove } from './move';
import { addCreate, addRename, addResume, addSetPlan, addShow, addSuspend } from './organisations';
import { addLink, addSignOut } from './people';

export function addOrg(program: ExplainedCommand): void {
  const org = program
    .command('org')
    .description('create, list, change, suspend, move and erase organisations; sign their users in and out');
  const commands = [addCreate, addList, addShow, addRename, addSetPlan, addSuspend, addResume];
  for (const add of [...commands, addMove, addDropCopy, addErase, addLink, addSignOut]) add(org);
  org.nameCommands();
}
