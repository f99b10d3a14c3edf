import type { Command } from 'commander';
import { addOrgCreate } from './create';
import { addOrgLink } from './link';
import { addOrgList } from './list';
import { addOrgSetPlan } from './setPlan';
import { addOrgSignOut } from './signOut';
import { nameCommands } from '../common/help';

export function addOrg(program: Command): void {
  const org = program
    .command('org')
    .description('create and list organisations, change their plan, sign their users in and out');
  addOrgCreate(org);
  addOrgList(org);
  addOrgSetPlan(org);
  addOrgLink(org);
  addOrgSignOut(org);
  nameCommands(org);
}
