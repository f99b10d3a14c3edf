import { type Command, Option } from 'commander';
import { ALL_ROLES, type Role } from '../../access/roles';
import type { Config } from '../../config';
import { notFound } from '../common/failure';
import { addExamples } from '../common/help';
import { signInUrl } from '../common/signInUrl';
import { print, printJson, say } from '../common/terminal';
import { name, uuid } from '../common/values';

interface LinkOptions {
  readonly org: string;
  readonly role: Role;
  readonly name?: string;
  readonly json?: true;
}

export function addOrgLink(org: Command): void {
  const command = org
    .command('link')
    .description('print a one-time sign-in link to the settings page, valid for 15 minutes')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .addOption(
      new Option('--role <role>', 'role of the user: members can view keys, admins can change them')
        .choices(ALL_ROLES)
        .default('admin'),
    )
    .option('--name <name>', 'name of the user in the audit log (default: the user running this command)', name)
    .option('--json', 'print {url, role, expires_at, organisation} as JSON')
    .action(link);
  addExamples(
    command,
    [
      'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3',
      'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3 --role member --name "Ann Lee" --json',
    ],
    ['The link uses PUBLIC_URL, or HOST and PORT if it is not set.'],
  );
}

async function link(options: LinkOptions): Promise<void> {
  const [{ withStore }, { operator }] = await Promise.all([
    import('../common/withStore.js'),
    import('../common/open.js'),
  ]);
  const by = operator();
  const userName = options.name ?? by.who.replace(/^cli:/, '');
  const user = { id: `link:${userName}`, name: userName };
  const made = await withStore(async ({ control }, config) => {
    const session = { organisationId: options.org, user, role: options.role };
    const link = await control.sessions.makeLink(session, by);
    const organisation = await control.organisations.find(options.org);
    return link && organisation && { ...link, organisation, url: signInUrl(publicUrl(config), link.token) };
  });
  if (!made) throw notFound('organisation', options.org, 'see scopegate org list');
  const { url, endsAt, organisation } = made;
  if (options.json) {
    const { id, name: called, plan } = organisation;
    printJson({ url, role: options.role, expires_at: endsAt, organisation: { id, name: called, plan } });
    return;
  }
  print(url);
  say(
    `\nOpen it in a browser. It signs ${userName} in to ${organisation.name} as ${options.role}, once, and expires at ${endsAt.toISOString()}.`,
  );
}

/** The URL at which browsers reach a gateway with this configuration. */
function publicUrl({ PUBLIC_URL, HOST, PORT }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  // these mean all addresses of the machine, which a browser cannot open
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(PORT)}`;
}
