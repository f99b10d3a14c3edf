import { Command } from 'commander';
import type { describeVariables } from '../config';
import { uuid } from './values';

export interface JsonOption {
  readonly json?: true;
}

/** Options of a command that works on one organisation. */
export interface OrgOption extends JsonOption {
  readonly org: string;
}

/** Id of an organisation, for examples. */
export const ORG_ID = '689defbf-4477-4b15-966e-4830b650ded3';

/** A command whose help ends with examples, notes and exit codes. */
export class ExplainedCommand extends Command {
  override createCommand(name?: string): ExplainedCommand {
    return new ExplainedCommand(name);
  }

  /** With `isDefault` it is what the command does without a subcommand. */
  subcommand(name: string, description: string, options: { readonly isDefault?: boolean } = {}): ExplainedCommand {
    return this.command(name, options).description(description);
  }

  /** Adds the argument with the id of something, such as `the key`. */
  id(what: string, parse = uuid): this {
    return this.argument('<id>', `id of ${what}`, parse);
  }

  /** Adds the required option with the id of an organisation. */
  org(): this {
    return this.requiredOption('--org <id>', 'id of the organisation', uuid);
  }

  /** Adds the option with the folder of the user's schema, for commands that serve. */
  schema(): this {
    return this.option('--schema <dir>', 'folder with extensions of the schema (default: SCHEMA_DIR)');
  }

  /** Adds --json; `what` completes "print … as JSON". A command that prints more or less with it declares the option itself. */
  json(what: string): this {
    return this.option('--json', `print ${what} as JSON`);
  }

  /** Sets the command's implementation; `load` is called only when the command runs, which keeps --help fast. */
  run(load: () => Promise<(...args: never[]) => Promise<void>>): this {
    return this.action(async (...args: unknown[]) => (await load())(...(args as never[])));
  }

  /**
   * Adds examples, notes and exit codes. `notes` is a function if they have what is loaded only for the command, such as its scopes; `untilStopped`
   * is for a command that Ctrl-C ends without a failure.
   */
  examples(
    lines: readonly string[],
    notes: readonly string[] | (() => readonly string[]) = [],
    untilStopped = false,
  ): this {
    return this.addHelpText('after', () => {
      const shown = typeof notes === 'function' ? notes() : notes;
      return [
        ...['', 'Examples:', ...lines.map((line) => `  ${line}`)],
        ...(shown.length === 0 ? [] : ['', ...shown]),
        ...['', 'Exit codes:', '  0    done', '  1    failed; see stderr', '  2    wrong usage'],
        untilStopped ? '  130  interrupted by a second Ctrl-C' : '  130  interrupted by Ctrl-C',
      ].join('\n');
    });
  }

  /** Adds a list of every environment variable, which {@link loadVariables} loads. */
  environment(): this {
    listsVariables.add(this);
    return this.addHelpText('after', () => {
      const width = Math.max(...variables.map(({ name }) => name.length));
      const lines = variables.map(({ name, help, fallback }) => {
        const text = fallback === '' || help.includes('default') ? help : `${help} (default ${fallback})`;
        return `  ${name.padEnd(width)}  ${text}`;
      });
      return ['', 'Environment:', ...lines].join('\n');
    });
  }

  /** Lists the subcommands of this command after wrong usage; call it once all are added. */
  listSubcommandsOnError(): this {
    const names = this.commands.map((command) => command.name()).join(', ');
    const path = this.parent ? `${this.parent.name()} ${this.name()}` : this.name();
    return this.showHelpAfterError(`commands: ${names} (see ${path} --help)`);
  }
}

let variables: ReturnType<typeof describeVariables> = [];
/** The commands that call {@link ExplainedCommand.environment}. */
const listsVariables = new Set<Command>();

/** Loads what {@link ExplainedCommand.environment} lists, before the commands that have it, to keep the others fast. */
export async function loadVariables(_program: Command, command: Command): Promise<void> {
  if (!listsVariables.has(command)) return;
  const config = await import('../config/index.js');
  variables = config.describeVariables();
}
