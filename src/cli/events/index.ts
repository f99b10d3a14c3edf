import { InvalidArgumentError, Option } from 'commander';
import { secretFrom } from '../../auth/webhookSecrets';
import { type ExplainedCommand, ORG_ID } from '../help';
import { eventTypes, moment } from '../values';

/** The gateway that the demo starts. */
const DEMO = 'http://127.0.0.1:4000';
/** The values of `--after`, for help. */
const AFTER = 'a cursor, `now`, or `beginning` for all that are kept (30 days)';

export function addEvents(program: ExplainedCommand): void {
  const events = program.subcommand('events', 'follow what changes in an organisation');
  events
    .subcommand('tail', 'print events as they happen, one JSON object per line, until Ctrl-C; reads the database')
    .org()
    .option('--types <list>', 'only these types, comma-separated', eventTypes)
    .addOption(new Option('--after <cursor>', `where to begin: ${AFTER} (default: now)`).conflicts('since'))
    .option('--since <time>', 'begin with the events since a date (e.g. 2026-11-21) or an age (e.g. 30m)', moment)
    .option(
      '--json',
      'print {id, type, occurred_at, object, changes, status, gap, related, origin} per line; this is also the default',
    )
    .examples(
      [
        `scopegate events tail --org ${ORG_ID}`,
        `scopegate events tail --org ${ORG_ID} --types order.created,order.status_changed --since 1h`,
        `scopegate events tail --org ${ORG_ID} --after beginning | head -1`,
      ],
      [
        'Needs a gateway that records events (EVENTS=on). While the database does not respond, it waits; then it goes on.',
        'When it ends, it prints to stderr the --after that continues from there. Ctrl-C ends it with exit code 0.',
      ],
      true,
    )
    .run(async () => (await import('./tailCommand.js')).tailCommand);

  const key = new Option('--key <key>', 'API key; in a variable, other users of this machine cannot see it');
  const url = new Option('--url <url>', 'the gateway').env('SCOPEGATE_URL').default(DEMO);
  events
    .subcommand(
      'listen',
      'send events to a receiver on this machine as signed webhooks, until Ctrl-C; reads the API, so it needs no tunnel',
    )
    .requiredOption('--forward <url>', 'where to post them, e.g. http://localhost:3000/webhooks', receiverUrl)
    .addOption(key.env('SCOPEGATE_KEY'))
    .addOption(url.argParser(baseUrl))
    .option('--types <list>', 'only these types, comma-separated (default: all that the key may read)', eventTypes)
    .option('--secret <secret>', 'whsec_… to sign with (default: a new one, which is printed)', webhookSecret)
    .option('--after <cursor>', `where to begin: ${AFTER}`, 'now')
    .json('{at, id, type, object, status, ms, error} per attempt')
    .examples(
      [
        'scopegate events listen --forward http://localhost:3000/webhooks',
        'scopegate events listen --forward http://localhost:3000/webhooks --types order.created --after beginning',
      ],
      [
        'It needs an API key, like any integration: export SCOPEGATE_KEY=…',
        'Events are sent one after another, in order. While nothing listens at the URL, the event waits. An event that is answered with a',
        'status other than 2xx is sent 4 times in all and then left out, which is printed. Ctrl-C ends the command with exit code 0, and',
        'prints the --after that continues from there.',
      ],
      true,
    )
    .run(async () => (await import('./listenCommand.js')).listenCommand);
  events.listSubcommandsOnError();
}

const receiverUrl = (text: string): string => httpUrl(text, 'http://localhost:3000/webhooks');

/** Parses the URL of a gateway, to which paths are appended. An empty one counts as not given, as every variable does. */
function baseUrl(text: string): string {
  if (text === '') return DEMO;
  const url = httpUrl(text, DEMO);
  if (url.includes('?')) throw new InvalidArgumentError('Expected a URL without a query.');
  return url.replace(/\/$/, '');
}

function httpUrl(text: string, example: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(`Expected a URL that begins with http:// or https://, e.g. ${example}.`);
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('Expected a URL without user name and password.');
  url.hash = '';
  return url.href;
}

/** Parses a secret in the form that webhook endpoints use. */
function webhookSecret(text: string): Buffer {
  const secret = secretFrom(text);
  if (!secret) throw new InvalidArgumentError('Expected whsec_ and 24 to 64 bytes in base64.');
  return secret;
}
