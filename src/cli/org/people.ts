import { Option } from 'commander';
import { ALL_ROLES, type Role } from '../../auth/roles';
import { notFound } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { print, printJson, say } from '../common/terminal';
import { reachable, signInUrl } from '../common/urls';
import { name, uuid } from '../common/values';
import { requireOrganisation, withStore } from '../common/withStore';

interface LinkOptions extends JsonOption {
  readonly org: string;
  readonly role: Role;
  readonly name?: string;
}

export function addLink(org: ExplainedCommand): void {
  const role = new Option('--role <role>', 'role of the user: members can view keys, admins can change them');
  org
    .command('link')
    .description('print a one-time sign-in link to the settings page, valid for 15 minutes')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .addOption(role.choices(ALL_ROLES).default('admin'))
    .option('--name <name>', 'name of the user in the audit log (default: the user running this command)', name)
    .option('--json', 'print {url, role, expires_at, organisation} as JSON')
    .examples(
      [
        'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3',
        'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3 --role member --name "Ann Lee" --json',
      ],
      ['The link uses PUBLIC_URL, or HOST and PORT if it is not set.'],
    )
    .action(link);
}

async function link({ org, role, name: given, json }: LinkOptions): Promise<void> {
  const made = await withStore(async ({ control, operator }, { PUBLIC_URL, HOST, PORT }) => {
    const userName = given ?? operator.who.replace(/^cli:/, '');
    const user = { id: `link:${userName}`, name: userName };
    const link = await control.sessions.makeLink({ organisationId: org, user, role }, operator);
    const organisation = await control.organisations.find(org);
    const local = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${String(PORT)}`;
    const base = PUBLIC_URL ?? reachable(local);
    return link && organisation && { ...link, url: signInUrl(base, link.token), userName, organisation };
  });
  if (!made) throw notFound('organisation', org, 'see scopegate org list');
  const { url, userName, endsAt, organisation } = made;
  if (json) {
    const { id, name, plan } = organisation;
    printJson({ url, role, expires_at: endsAt, organisation: { id, name, plan } });
    return;
  }
  print(url);
  say(
    `\nOpen it in a browser. It signs ${userName} in to ${organisation.name} as ${role}, once, and expires at ${endsAt.toISOString()}.`,
  );
}

interface SignOutOptions extends JsonOption {
  readonly org: string;
  readonly user?: string;
}

export function addSignOut(org: ExplainedCommand): void {
  org
    .command('sign-out')
    .description("end all sessions and sign-in links of an organisation's users at once, on every instance")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--user <id>', 'only this user, by the id in the audit log: oidc:<subject> or link:<name>')
    .option('--json', 'print {ended} as JSON')
    .examples([
      'scopegate org sign-out --org 689defbf-4477-4b15-966e-4830b650ded3',
      'scopegate org sign-out --org 689defbf-4477-4b15-966e-4830b650ded3 --user "link:Ann Lee"',
    ])
    .action(async ({ org, user, json }: SignOutOptions) => {
      const ended = await withStore(async (store) => {
        const { id } = await requireOrganisation(store, org);
        // the audit log prefixes a user's id with `user:`
        const whose = { organisationId: id, ...(user !== undefined && { userId: user.replace(/^user:/, '') }) };
        return store.control.sessions.endAll(whose, store.operator);
      });
      if (json) printJson({ ended });
      else print(ended === 1 ? 'Ended 1 session.' : `Ended ${String(ended)} sessions.`);
    });
}
