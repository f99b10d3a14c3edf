import { Option } from 'commander';
import { ALL_ROLES } from '../../auth/roles';
import { type ExplainedCommand, ORG_ID } from '../help';
import { currency, externalRef, name, uuid } from '../values';

/** What commands print about an organisation, for their help. */
const SHAPE = '{id, name, plan, currency, shard, state, external_ref, sandbox_of, created_at}';
/** What an argument `<id>` is, for help. */
const ORGANISATION = 'the organisation';
const CONFIRM = 'name of the organisation, to confirm that it is the right one';
const PLANS_HELP = [
  'The plans are those of PLANS_FILE; without it, starter (without API access), integrations and enterprise.',
];

const commands = () => import('./command.js');

export function addOrg(program: ExplainedCommand): void {
  const org = program.subcommand(
    'org',
    'create, list, change, suspend, move and erase organisations; sign their users in and out',
  );
  org
    .subcommand('create', 'create an organisation, with its own database')
    .option('--name <name>', 'name of the organisation; required, unless it is a sandbox', name)
    .option('--plan <plan>', 'plan (default: that of PLANS_FILE; without it, integrations)')
    .option('--currency <code>', 'default currency of new products (ISO 4217; default: USD)', currency)
    .addOption(
      new Option('--sandbox-of <id>', 'create a sandbox for this organisation instead, with the same plan and currency')
        .argParser(uuid)
        .conflicts(['plan', 'currency', 'externalRef', 'id']),
    )
    .option('--external-ref <ref>', "your own product's id for it; unique", externalRef)
    .option(
      '--id <id>',
      'the id of an organisation that was erased here, or that comes from another installation (default: a new one)',
      uuid,
    )
    .option(
      '--shard <name>',
      'shard to store it on, if the database is a sharded cluster (default: the one with the fewest organisations)',
    )
    .addOption(new Option('--seed <sample>', 'load a sample into the sandbox').choices(['northwind']))
    .json(SHAPE)
    .examples(
      [
        'scopegate org create --name "Acme Ltd"',
        'scopegate org create --name "Acme Ltd" --plan enterprise --currency EUR --json',
        `scopegate org create --sandbox-of ${ORG_ID} --seed northwind`,
        `scopegate org create --id ${ORG_ID} --name "Acme Ltd"`,
      ],
      [
        'With --id and an import with --organisation, --keys and --webhooks, an organisation is what it was to its integrators, but for its events:',
        'readers of the former feed get feed.gap and copy again. The id is refused while the organisation exists or is being erased, for two minutes',
        'after that, and while there is a database for it.',
        ...PLANS_HELP,
      ],
    )
    .run(async () => (await commands()).create);

  org
    .subcommand('list', 'list organisations, oldest first')
    .option('--plan <plan>', 'only those on this plan, also one that PLANS_FILE lacks')
    .option('--shard <name>', 'only those on this shard')
    .json(`an array of ${SHAPE}`)
    .addOption(new Option('--json-lines', `print one ${SHAPE} per line`).conflicts('json'))
    .examples([
      'scopegate org list',
      'scopegate org list --plan starter',
      'scopegate org list --json-lines | jq -r .id',
    ])
    .run(async () => (await commands()).list);

  org
    .subcommand('show', 'show an organisation: its name, plan, shard, state, and how many bytes it stores')
    .id(ORGANISATION)
    .option('--json', `print ${SHAPE.slice(0, -1)}, stored_bytes?, move?} as JSON`)
    .examples([`scopegate org show ${ORG_ID}`])
    .run(async () => (await commands()).show);

  org
    .subcommand('rename', 'change the name of an organisation')
    .id(ORGANISATION)
    .argument('<name>', 'the new name', name)
    .json(SHAPE)
    .examples([`scopegate org rename ${ORG_ID} "Acme Trading Ltd"`])
    .run(async () => (await commands()).rename);

  org
    .subcommand('set-plan', "change an organisation's plan; takes effect immediately for all its keys")
    .id(ORGANISATION)
    .argument('<plan>', 'the new plan')
    .json(SHAPE)
    .examples([`scopegate org set-plan ${ORG_ID} enterprise`], PLANS_HELP)
    .run(async () => (await commands()).setPlan);

  org
    .subcommand(
      'suspend',
      'suspend an organisation: once this returns, all its keys and users get 403 organisation_suspended, on every instance',
    )
    .id(ORGANISATION)
    .json(SHAPE)
    .examples(
      [`scopegate org suspend ${ORG_ID}`],
      ['Its data are kept, and import, export and key commands still work.'],
    )
    .run(async () => (await commands()).suspend);

  org
    .subcommand('resume', 'end the suspension of an organisation; takes effect immediately for all its keys and users')
    .id(ORGANISATION)
    .json(SHAPE)
    .examples([`scopegate org resume ${ORG_ID}`])
    .run(async () => (await commands()).resume);

  org
    .subcommand('reset', 'empty a sandbox and load the sample again; its keys and webhooks stay')
    .id('the sandbox')
    .json('{id, reset}')
    .examples(
      [`scopegate org reset ${ORG_ID}`],
      [
        'Each deleted or loaded record produces an event, like any other change. If the reset is interrupted, run it again.',
      ],
    )
    .run(async () => (await import('../sandbox.js')).reset);

  org
    .subcommand('move', 'have MongoDB move an organisation to another shard; its requests get 503 until the move ends')
    .id(ORGANISATION)
    .requiredOption('--to <shard>', 'the shard')
    .json('{id, from, to, refused_ms}')
    .examples(
      [`scopegate org move ${ORG_ID} --to shard02`],
      [
        'It waits for writes under way and for the events of the last changes, and then runs movePrimary. If it fails, the organisation stays',
        'where it was. If this process is killed, MongoDB goes on, and a gateway ends the move.',
      ],
    )
    .run(async () => (await import('./moveCommand.js')).moveCommand);

  org
    .subcommand(
      'erase',
      'erase an organisation for good: its keys, sessions, data and database; the data are exported first',
    )
    .id(ORGANISATION)
    .requiredOption('--confirm <name>', CONFIRM)
    .option('--export <dir>', 'folder for the export (default: erased/ID in DATA_DIR)')
    .option('--no-export', 'export nothing')
    .json('{id, erased, export}')
    .examples(
      [
        `scopegate org erase ${ORG_ID} --confirm "Acme Ltd"`,
        `scopegate org erase ${ORG_ID} --confirm "Acme Ltd" --no-export --json`,
      ],
      [
        'Its keys get 401 as soon as this starts. An erasure cannot be undone; if it is interrupted, run the command again to continue.',
        'No data is deleted until the export is complete. One audit event without personal data is kept.',
        'The export has neither keys nor webhook endpoints. To be able to bring the organisation back, first run scopegate export --keys --webhooks.',
      ],
    )
    .run(async () => (await import('../erase.js')).eraseOrganisationCommand);

  const role = new Option('--role <role>', 'role of the user: members can view keys, admins can change them');
  org
    .subcommand('link', 'print a one-time sign-in link to the settings page, valid for 15 minutes')
    .org()
    .addOption(role.choices(ALL_ROLES).default('admin'))
    .option('--name <name>', 'name of the user in the audit log (default: the user running this command)', name)
    .json('{url, role, expires_at, organisation}')
    .examples(
      [
        `scopegate org link --org ${ORG_ID}`,
        `scopegate org link --org ${ORG_ID} --role member --name "Ann Lee" --json`,
      ],
      ['The link uses PUBLIC_URL, or HOST and PORT if it is not set.'],
    )
    .run(async () => (await commands()).link);

  org
    .subcommand(
      'sign-out',
      "end all sessions and sign-in links of an organisation's users immediately, on every instance",
    )
    .org()
    .option('--user <id>', 'only this user, by the id in the audit log: oidc:<subject>, link:<name> or app:<id>')
    .json('{ended}')
    .examples([
      `scopegate org sign-out --org ${ORG_ID}`,
      `scopegate org sign-out --org ${ORG_ID} --user "link:Ann Lee"`,
    ])
    .run(async () => (await commands()).signOut);

  org.listSubcommandsOnError();
}
