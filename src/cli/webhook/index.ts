import { InvalidArgumentError } from 'commander';
import { type ExplainedCommand, ORG_ID } from '../common/help';
import { items, moment } from '../common/values';

const ID = '5b9f0c1e-8f0b-4f58-9d6a-2f5a3c6d7e81';
const LISTED = 'the endpoint (see webhook list)';

const commands = () => import('./command.js');

/** Comma-separated types of events; which there are is checked with the schema. */
function types(text: string): string[] {
  const given = items(text);
  if (given.length === 0) throw new InvalidArgumentError('Expected types of events, e.g. quote.created,order.deleted.');
  return given;
}

const from = (text: string): Date => (text === 'now' ? new Date() : moment(text));

export function addWebhook(program: ExplainedCommand): void {
  const webhook = program.subcommand('webhook', 'send events to the servers of an organisation');
  webhook
    .subcommand('create', 'create an endpoint that gets events from now on, and show its secret once')
    .org()
    .requiredOption(
      '--url <url>',
      'where to post events: an https URL with a public address, or one in WEBHOOK_ALLOWED_RANGES, then also http',
    )
    .option('--types <list>', 'comma-separated types of events (default: all)', types)
    .json('{id, url, types, secret}')
    .examples([
      `scopegate webhook create --org ${ORG_ID} --url https://example.com/webhooks`,
      `scopegate webhook create --org ${ORG_ID} --url https://example.com/webhooks --types quote.status_changed,order.created --json`,
    ])
    .run(async () => (await commands()).createCommand);

  webhook
    .subcommand('list', "list an organisation's endpoints, oldest first; secrets are never shown")
    .org()
    .json('an array of {id, url, types, state, …}')
    .examples([`scopegate webhook list --org ${ORG_ID}`])
    .run(async () => (await commands()).listCommand);

  webhook
    .subcommand('test', 'send a webhook.test event now, from this machine, and show the result')
    .id(LISTED)
    .json('{id, url, types, ok, status, error, answer, ms}')
    .examples([`scopegate webhook test ${ID}`], ['The exit code is 1 unless the endpoint answers 2xx.'])
    .run(async () => (await commands()).testCommand);

  webhook
    .subcommand('rotate', 'replace the secret of an endpoint and show the new one once; for 24 hours both sign')
    .id(LISTED)
    .json('{id, url, types, secret}')
    .examples(
      [`scopegate webhook rotate ${ID}`],
      ['At most two secrets sign: the new one, and until 24 hours later the one before it.'],
    )
    .run(async () => (await commands()).rotateCommand);

  webhook
    .subcommand('enable', 'enable an endpoint that is disabled or failing, or send events again')
    .id(LISTED)
    .option(
      '--from <time>',
      'send events since a date (e.g. 2026-11-21T09:00:00Z), an age (e.g. 7d; at most 30d) or now, and drop what waits (default: where it stopped)',
      from,
    )
    .json('{id, url, types, state}')
    .examples([`scopegate webhook enable ${ID}`, `scopegate webhook enable ${ID} --from 2d --json`])
    .run(async () => (await commands()).enableCommand);

  webhook
    .subcommand('disable', 'send nothing to an endpoint until it is enabled again')
    .id(LISTED)
    .json('{id, url, types, state}')
    .examples([`scopegate webhook disable ${ID}`])
    .run(async () => (await commands()).disableCommand);

  webhook
    .subcommand('delete', 'delete an endpoint for good')
    .id(LISTED)
    .json('{id, url, types, deleted}')
    .examples([`scopegate webhook delete ${ID}`])
    .run(async () => (await commands()).deleteCommand);

  webhook.nameCommands();
}
