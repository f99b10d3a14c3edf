import type { Command } from 'commander';
import { nameCommands } from '../common/help';
import { addKeyCreate } from './create';
import { addKeyList } from './list';
import { addKeyRevoke } from './revoke';
import { addKeyRotate } from './rotate';

export function addKey(program: Command): void {
  const key = program.command('key').description('create, list, rotate and revoke API keys');
  addKeyCreate(key);
  addKeyList(key);
  addKeyRevoke(key);
  addKeyRotate(key);
  nameCommands(key);
}
