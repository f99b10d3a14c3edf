import { type Command, Option } from 'commander';
import { ALL_ROLES, type Role } from '../../access/roles';
import type { Config } from '../../config';
import { thereIsNo } from '../common/failure';
import { teach } from '../common/help';
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
    .description('print a link that signs in on the settings page once, within 15 minutes')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .addOption(
      new Option('--role <role>', 'what it lets its user do: a member looks, an admin changes keys')
        .choices(ALL_ROLES)
        .default('admin'),
    )
    .option('--name <name>', 'who it is for, as the audit log calls them; whoever runs this when left out', name)
    .option('--json', 'print {url, role, expires_at, organisation} as JSON')
    .action(link);
  teach(
    command,
    [
      'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3',
      'scopegate org link --org 689defbf-4477-4b15-966e-4830b650ded3 --role member --name "Ann Lee" --json',
    ],
    ['The link begins with PUBLIC_URL, or with HOST and PORT where that is not set.'],
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
  if (!made) throw thereIsNo('organisation', options.org, 'scopegate org list shows those there are');
  const { url, endsAt, organisation } = made;
  if (options.json) {
    const { id, name: called, plan } = organisation;
    printJson({ url, role: options.role, expires_at: endsAt, organisation: { id, name: called, plan } });
    return;
  }
  print(url);
  say(
    `\nOpen it in a browser: it signs ${userName} in to ${organisation.name} as ${options.role}, once, until ${endsAt.toISOString()}.`,
  );
}

/** Where browsers reach the gateway that this configuration makes. */
function publicUrl({ PUBLIC_URL, HOST, PORT }: Config): string {
  if (PUBLIC_URL !== undefined) return PUBLIC_URL;
  // these stand for every address of the machine, and are none that a browser can open
  const host = { '0.0.0.0': '127.0.0.1', '::': '::1' }[HOST] ?? HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${String(PORT)}`;
}
