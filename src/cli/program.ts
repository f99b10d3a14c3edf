import { version } from '../package';
import { addAudit } from './audit';
import { addCustomer } from './customer';
import { addDemo } from './demo';
import { addDoctor } from './doctor';
import { addEvents } from './events';
import { addExport } from './export';
import { ExplainedCommand, loadVariables } from './common/help';
import { addImport } from './import';
import { addKey } from './key';
import { addLogs } from './logs';
import { addOpenapi } from './openapi';
import { addOrg } from './org';
import { addServe } from './serve';
import { addWebhook } from './webhook';

/** The command line. A command's implementation is loaded when it runs, which keeps --help fast. */
export function createProgram(): ExplainedCommand {
  const program = new ExplainedCommand('scopegate')
    .description(
      "An organisation's quotes, products, orders, customers and request threads as GraphQL and REST, behind scoped API keys.",
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .exitOverride()
    .hook('preSubcommand', loadVariables)
    // for the commands, which take it over from here
    .showHelpAfterError('(use --help for usage)');
  const access = [addDemo, addServe, addOrg, addKey, addWebhook, addAudit, addLogs];
  for (const add of [...access, addEvents, addImport, addExport, addCustomer, addOpenapi, addDoctor]) add(program);
  return program
    .nameCommands()
    .examples(['scopegate demo', 'scopegate org create --name "Acme Ltd"', 'scopegate help key create'])
    .addHelpText('after', '\nConfiguration comes from environment variables; see scopegate serve --help.');
}
