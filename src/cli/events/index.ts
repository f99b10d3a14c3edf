import { Option } from 'commander';
import type { ExplainedCommand } from '../common/help';
import { moment, uuid } from '../common/values';
import { httpUrl, names, webhookSecret } from './values';
import type { TailOptions } from './tailCommand';
import type { ListenOptions } from './listenCommand';

/** Where `--after` can begin. */
const AFTER = 'a cursor, `now`, or `beginning` for all that are kept (30 days)';

export function addEvents(program: ExplainedCommand): void {
  const events = program.command('events').description('follow what changes in an organisation');
  for (const add of [addTail, addListen]) add(events);
  events.nameCommands();
}

function addTail(events: ExplainedCommand): void {
  events
    .command('tail')
    .description('print events as they happen, one JSON object per line, until Ctrl-C; reads the database')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--types <list>', 'only these types, comma-separated', names)
    .addOption(new Option('--after <cursor>', `where to begin: ${AFTER} (default: now)`).conflicts('since'))
    .option('--since <time>', 'begin with the events since a date (e.g. 2026-11-21) or an age (e.g. 30m)', moment)
    .option('--json', 'print {id, type, occurred_at, object, changes, status, gap} per line; this is also the default')
    .examples(
      [
        'scopegate events tail --org 689defbf-4477-4b15-966e-4830b650ded3',
        'scopegate events tail --org 689defbf-4477-4b15-966e-4830b650ded3 --types order.created,order.status_changed --since 1h',
        'scopegate events tail --org 689defbf-4477-4b15-966e-4830b650ded3 --after beginning | head -1',
      ],
      [
        'Needs a gateway that records events (EVENTS=on). While the database does not respond it waits, and then goes on where it was.',
        'When it ends it prints to stderr the --after that goes on from there. Ctrl-C ends it with exit code 0.',
      ],
    )
    .action(async (options: TailOptions) => (await import('./tailCommand.js')).tailCommand(options));
}

function addListen(events: ExplainedCommand): void {
  events
    .command('listen')
    .description(
      'send events to a receiver on this machine as signed webhooks, until Ctrl-C; reads the API, so it needs no tunnel',
    )
    .requiredOption('--forward <url>', 'where to post them, e.g. http://localhost:3000/webhooks', httpUrl)
    .addOption(
      new Option('--key <key>', 'API key; in a variable, other users of this machine cannot see it').env(
        'SCOPEGATE_KEY',
      ),
    )
    .addOption(
      new Option('--url <url>', 'the gateway').env('SCOPEGATE_URL').default('http://127.0.0.1:4000').argParser(httpUrl),
    )
    .option('--types <list>', 'only these types, comma-separated (default: all that the key may read)', names)
    .option('--secret <secret>', 'whsec_… to sign with (default: a new one, which is printed)', webhookSecret)
    .option('--after <cursor>', `where to begin: ${AFTER}`, 'now')
    .option('--json', 'print {at, id, type, object, status, ms, error} per attempt as JSON')
    .examples(
      [
        'scopegate events listen --forward http://localhost:3000/webhooks',
        'scopegate events listen --forward http://localhost:3000/webhooks --types order.created --after beginning',
      ],
      [
        'The key is that of any integration: export SCOPEGATE_KEY=svc_live_…',
        'Events are sent one after another, in order. While nothing listens at the URL, the event waits. One that is answered with another',
        'status than 2xx is sent 4 times in all and then left out, which is printed. Ctrl-C ends it with exit code 0, and prints the --after',
        'that goes on from there.',
      ],
    )
    .action(async (options: ListenOptions) => (await import('./listenCommand.js')).listenCommand(options));
}
