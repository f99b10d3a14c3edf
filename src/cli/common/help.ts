import type { Command } from 'commander';
import type { describeVariables } from '../../config';

export const EXIT_CODES = [
  '',
  'Exit codes:',
  '  0    done',
  '  1    failed; see stderr',
  '  2    wrong usage',
  '  130  interrupted by Ctrl-C',
].join('\n');

/** The examples in a command's help. */
export function examples(lines: readonly string[]): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`)].join('\n');
}

/** Adds examples, notes and exit codes below the options in a command's help. */
export function addExamples(command: Command, lines: readonly string[], notes: readonly string[] = []): Command {
  const text = notes.length === 0 ? '' : `\n\n${notes.join('\n')}`;
  command.showHelpAfterError('(use --help for usage)');
  return command.addHelpText('after', `${examples(lines)}${text}\n${EXIT_CODES}`);
}

let variables: ReturnType<typeof describeVariables> = [];
const LISTED_BY: readonly string[] = ['demo', 'serve', 'doctor'];

/** Loads the descriptions of the environment variables, only for commands whose help lists them, to keep the others fast. */
export async function loadVariables(_program: Command, command: Command): Promise<void> {
  if (!LISTED_BY.includes(command.name())) return;
  const config = await import('../../config.js');
  variables = config.describeVariables();
}

/** Lists every environment variable below a command's help. */
export function listVariables(command: Command): Command {
  return command.addHelpText('after', () => {
    const width = Math.max(...variables.map(({ name }) => name.length));
    const lines = variables.map(({ name, help, fallback }) => {
      const text = fallback === '' || help.includes('default') ? help : `${help} (default ${fallback})`;
      return `  ${name.padEnd(width)}  ${text}`;
    });
    return ['', 'Environment:', ...lines].join('\n');
  });
}

/** Lists a group's commands after wrong usage. */
export function nameCommands(group: Command): void {
  const names = group.commands.map((command) => command.name()).join(', ');
  group.showHelpAfterError(`commands: ${names} (see scopegate ${group.name()} --help)`);
}
