import type { ExplainedCommand } from '../common/help';
import { addCreate } from './create';
import { addList } from './list';
import { addRevoke } from './revoke';
import { addRotate } from './rotate';
import { addShow } from './show';
import { addUpdate } from './update';

export function addKey(program: ExplainedCommand): void {
  const key = program.command('key').description('create, list, show, update, rotate and revoke API keys');
  for (const add of [addCreate, addList, addShow, addUpdate, addRevoke, addRotate]) add(key);
  key.nameCommands();
}
