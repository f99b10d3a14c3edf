import type { Command } from 'commander';
import { nameCommands } from '../common/help';
import { addKeyCreate } from './create';
import { addKeyList } from './list';
import { addKeyRevoke } from './revoke';
import { addKeyRotate } from './rotate';

export function addKey(program: Command): void {
  const key = program.command('key').description('make API keys, list them, rotate them, revoke them');
  addKeyCreate(key);
  addKeyList(key);
  addKeyRevoke(key);
  addKeyRotate(key);
  nameCommands(key);
}
