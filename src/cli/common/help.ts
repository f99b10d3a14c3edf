import type { Command } from 'commander';
import type { describeVariables } from '../../config';

/** The option that every command has. */
export interface JsonOption {
  readonly json?: true;
}

/** The end of a command's help: examples, notes and exit codes. */
export function examples(lines: readonly string[], notes: readonly string[] = []): string {
  return [
    ...['', 'Examples:', ...lines.map((line) => `  ${line}`)],
    ...(notes.length === 0 ? [] : ['', ...notes]),
    ...['', 'Exit codes:', '  0    done', '  1    failed; see stderr', '  2    wrong usage'],
    '  130  interrupted by Ctrl-C',
  ].join('\n');
}

let variables: ReturnType<typeof describeVariables> = [];
const LISTED_BY: readonly string[] = ['demo', 'serve', 'doctor'];

/** Loads the descriptions of the environment variables, only for commands whose help lists them, to keep the others fast. */
export async function loadVariables(_program: Command, command: Command): Promise<void> {
  if (!LISTED_BY.includes(command.name())) return;
  const config = await import('../../config.js');
  variables = config.describeVariables();
}

/** The part of a command's help that lists every environment variable. */
export function environment(): string {
  const width = Math.max(...variables.map(({ name }) => name.length));
  const lines = variables.map(({ name, help, fallback }) => {
    const text = fallback === '' || help.includes('default') ? help : `${help} (default ${fallback})`;
    return `  ${name.padEnd(width)}  ${text}`;
  });
  return ['', 'Environment:', ...lines].join('\n');
}

/** Lists the commands of the program or of a group after wrong usage. */
export function nameCommands(group: Command): void {
  const names = group.commands.map((command) => command.name()).join(', ');
  const path = group.parent ? `${group.parent.name()} ${group.name()}` : group.name();
  group.showHelpAfterError(`commands: ${names} (see ${path} --help)`);
}
