import type { Command } from 'commander';
import { addExamples } from '../common/help';
import { print, printJson } from '../common/terminal';
import { uuid } from '../common/values';

interface SignOutOptions {
  readonly org: string;
  readonly user?: string;
  readonly json?: true;
}

export function addOrgSignOut(org: Command): void {
  const command = org
    .command('sign-out')
    .description("end all sessions and sign-in links of an organisation's users at once, on every instance")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--user <id>', 'only this user, by the id in the audit log: oidc:<subject> or link:<name>')
    .option('--json', 'print {ended} as JSON')
    .action(signOut);
  addExamples(command, [
    'scopegate org sign-out --org 689defbf-4477-4b15-966e-4830b650ded3',
    'scopegate org sign-out --org 689defbf-4477-4b15-966e-4830b650ded3 --user "link:Ann Lee"',
  ]);
}

async function signOut({ org, user, json }: SignOutOptions): Promise<void> {
  const [{ requireOrganisation, withStore }, { operator }] = await Promise.all([
    import('../common/withStore.js'),
    import('../common/open.js'),
  ]);
  const ended = await withStore(async (store) => {
    const { id } = await requireOrganisation(store, org);
    // the audit log prefixes a user's id with `user:`
    const whose = { organisationId: id, ...(user !== undefined && { userId: user.replace(/^user:/, '') }) };
    return store.control.sessions.endAll(whose, operator());
  });
  if (json) printJson({ ended });
  else print(ended === 1 ? 'Ended 1 session.' : `Ended ${String(ended)} sessions.`);
}
