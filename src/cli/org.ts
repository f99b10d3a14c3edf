import { Argument, Option } from 'commander';
import { type Plan, PLANS } from '../access/plans';
import { ALL_ROLES, type Role } from '../access/roles';
import { notFound, usageFailure } from './common/failure';
import type { ExplainedCommand, JsonOption } from './common/help';
import { print, printJson, printList, printPairs, say } from './common/terminal';
import { reachable, signInUrl } from './common/urls';
import { currency, name, uuid } from './common/values';
import { requireOrganisation, withStore } from './common/withStore';

export function addOrg(program: ExplainedCommand): void {
  const org = program
    .command('org')
    .description('create and list organisations, change their plan, sign their users in and out');
  for (const add of [addCreate, addList, addSetPlan, addLink, addSignOut]) add(org);
  org.nameCommands();
}

interface CreateOptions extends JsonOption {
  readonly name: string;
  readonly plan: Plan;
  readonly currency: string;
  readonly cluster?: string;
}

function addCreate(org: ExplainedCommand): void {
  const plan = new Option('--plan <plan>', 'plan; starter has no API access');
  org
    .command('create')
    .description('create an organisation, with its own database and indexes')
    .requiredOption('--name <name>', 'name of the organisation', name)
    .addOption(plan.choices(Object.keys(PLANS)).default('integrations'))
    .option('--currency <code>', 'default currency of new products (ISO 4217)', currency, 'USD')
    .option('--cluster <name>', 'cluster from MONGODB_CLUSTERS to store it on (default: the one with the most room)')
    .option('--json', 'print {id, name, plan} as JSON')
    .examples([
      'scopegate org create --name "Acme Ltd"',
      'scopegate org create --name "Acme Ltd" --plan enterprise --currency EUR --json',
    ])
    .action(async ({ json, cluster, ...input }: CreateOptions) => {
      const { id, name, plan } = await withStore(({ control, databases: { clusters } }) => {
        if (cluster === undefined || clusters.includes(cluster)) {
          return control.organisations.create({ ...input, cluster });
        }
        throw usageFailure(
          `unknown cluster ${cluster}; clusters are ${clusters.join(', ')} (add more with MONGODB_CLUSTERS)`,
        );
      });
      if (json) printJson({ id, name, plan });
      else {
        printPairs({ id, name, plan });
        print(`\nNext: scopegate key create --org ${id} --name "first key" --scopes all`);
      }
    });
}

function addList(org: ExplainedCommand): void {
  org
    .command('list')
    .description('list all organisations, oldest first')
    .option('--json', 'print an array of {id, name, plan} as JSON')
    .examples(['scopegate org list', 'scopegate org list --json'])
    .action(async ({ json }: JsonOption) => {
      const organisations = await withStore(({ control }) => control.organisations.list());
      printList(
        organisations.map(({ id, name, plan }) => ({ id, name, plan })),
        { ID: ({ id }) => id, PLAN: ({ plan }) => plan, NAME: ({ name }) => name },
        { json, empty: 'There are no organisations yet. To create one: scopegate org create --name "Acme Ltd"' },
      );
    });
}

function addSetPlan(org: ExplainedCommand): void {
  const newPlan = new Argument('<plan>', 'the new plan; starter has no API access');
  org
    .command('set-plan')
    .description("change an organisation's plan, for all its keys at once")
    .argument('<id>', 'id of the organisation', uuid)
    .addArgument(newPlan.choices(Object.keys(PLANS)))
    .option('--json', 'print {id, name, plan} as JSON')
    .examples(['scopegate org set-plan 689defbf-4477-4b15-966e-4830b650ded3 enterprise'])
    .action(async (id: string, plan: Plan, { json }: JsonOption) => {
      const changed = await withStore(({ control }) => control.organisations.setPlan(id, plan));
      if (!changed) throw notFound('organisation', id, 'see scopegate org list');
      const access = PLANS[plan].integrations ? 'its keys have API access' : 'its keys have no API access';
      if (json) printJson({ id, name: changed.name, plan: changed.plan });
      else print(`${changed.name} (${id}) is now on the plan ${plan}: ${access}.`);
    });
}

interface LinkOptions extends JsonOption {
  readonly org: string;
  readonly role: Role;
  readonly name?: string;
}

function addLink(org: ExplainedCommand): void {
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

function addSignOut(org: ExplainedCommand): void {
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
