import { InvalidArgumentError } from 'commander';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { items, moment, uuid } from '../common/values';
import type { CreateOptions, EnableOptions, ListOptions } from './command';

const ORG = '689defbf-4477-4b15-966e-4830b650ded3';
const ID = '5b9f0c1e-8f0b-4f58-9d6a-2f5a3c6d7e81';

export function addWebhook(program: ExplainedCommand): void {
  const webhook = program.command('webhook').description('send events to the servers of an organisation');
  for (const add of [addCreate, addList, addTest, addRotate, addEnable, addDisable, addDelete]) add(webhook);
  webhook.nameCommands();
}

const commands = () => import('./command.js');

/** Comma-separated types of events; which there are is checked with the schema. */
function types(text: string): string[] {
  const given = items(text);
  if (given.length === 0) throw new InvalidArgumentError('Expected types of events, e.g. quote.created,order.deleted.');
  return given;
}

const from = (text: string): Date => (text === 'now' ? new Date() : moment(text));

function addCreate(webhook: ExplainedCommand): void {
  webhook
    .command('create')
    .description('create an endpoint that gets events from now on, and show its secret once')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .requiredOption(
      '--url <url>',
      'where to post events: an https URL with a public address, or one in WEBHOOK_ALLOWED_RANGES, then also http',
    )
    .option('--types <list>', 'comma-separated types of events (default: all)', types)
    .option('--json', 'print {id, url, types, secret} as JSON')
    .examples([
      `scopegate webhook create --org ${ORG} --url https://example.com/webhooks`,
      `scopegate webhook create --org ${ORG} --url https://example.com/webhooks --types quote.status_changed,order.created --json`,
    ])
    .action(async (options: CreateOptions) => (await commands()).createCommand(options));
}

function addList(webhook: ExplainedCommand): void {
  webhook
    .command('list')
    .description("list an organisation's endpoints, oldest first; secrets are never shown")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--json', 'print an array of {id, url, types, state, …} as JSON')
    .examples([`scopegate webhook list --org ${ORG}`])
    .action(async (options: ListOptions) => (await commands()).listCommand(options));
}

function addTest(webhook: ExplainedCommand): void {
  webhook
    .command('test')
    .description('send an event of the type webhook.test now, from this machine, and show what became of it')
    .argument('<id>', 'id of the endpoint (see webhook list)', uuid)
    .option('--json', 'print {id, url, types, ok, status, error, answer, ms} as JSON')
    .examples([`scopegate webhook test ${ID}`], ['The exit code is 1 unless the endpoint answers 2xx.'])
    .action(async (id: string, options: JsonOption) => (await commands()).testCommand(id, options));
}

function addRotate(webhook: ExplainedCommand): void {
  webhook
    .command('rotate')
    .description('replace the secret of an endpoint and show the new one once; for 24 hours both sign')
    .argument('<id>', 'id of the endpoint (see webhook list)', uuid)
    .option('--json', 'print {id, url, types, secret} as JSON')
    .examples(
      [`scopegate webhook rotate ${ID}`],
      ['At most two secrets sign: the new one, and until 24 hours later the one before it.'],
    )
    .action(async (id: string, options: JsonOption) => (await commands()).rotateCommand(id, options));
}

function addEnable(webhook: ExplainedCommand): void {
  webhook
    .command('enable')
    .description('enable an endpoint that is disabled or failing, or send events again')
    .argument('<id>', 'id of the endpoint (see webhook list)', uuid)
    .option(
      '--from <time>',
      'send events since a date (e.g. 2026-11-21T09:00:00Z), an age (e.g. 7d; at most 30d) or now, and drop what waits (default: where it stopped)',
      from,
    )
    .option('--json', 'print {id, url, types, state} as JSON')
    .examples([`scopegate webhook enable ${ID}`, `scopegate webhook enable ${ID} --from 2d --json`])
    .action(async (id: string, options: EnableOptions) => (await commands()).enableCommand(id, options));
}

function addDisable(webhook: ExplainedCommand): void {
  webhook
    .command('disable')
    .description('send nothing to an endpoint until it is enabled again')
    .argument('<id>', 'id of the endpoint (see webhook list)', uuid)
    .option('--json', 'print {id, url, types, state} as JSON')
    .examples([`scopegate webhook disable ${ID}`])
    .action(async (id: string, options: JsonOption) => (await commands()).disableCommand(id, options));
}

function addDelete(webhook: ExplainedCommand): void {
  webhook
    .command('delete')
    .description('delete an endpoint for good')
    .argument('<id>', 'id of the endpoint (see webhook list)', uuid)
    .option('--json', 'print {id, url, types, deleted} as JSON')
    .examples([`scopegate webhook delete ${ID}`])
    .action(async (id: string, options: JsonOption) => (await commands()).deleteCommand(id, options));
}
