import type { Command } from 'commander';
import { addOrgCreate } from './create';
import { addOrgList } from './list';
import { addOrgSetPlan } from './setPlan';
import { nameCommands } from '../help';

export function addOrg(program: Command): void {
  const org = program.command('org').description('make organisations, list them, change their plan');
  addOrgCreate(org);
  addOrgList(org);
  addOrgSetPlan(org);
  nameCommands(org);
}
