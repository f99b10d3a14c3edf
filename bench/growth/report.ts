import { print, printTable } from '../../src/cli/common/terminal';
import { markdownTable } from '../report/format';
import type { GrowthGoal, GrowthSection } from './section';

/* Formats the growth measurements for the terminal and the report. */

const HEADINGS = ['goal', 'target', 'measured', 'result'] as const;

function goalRow({ title, wanted, measured, isMet }: GrowthGoal): string[] {
  return [title, wanted, measured, isMet ? 'met' : 'missed'];
}

export function printGrowth({ title, headings, rows, goals }: GrowthSection): void {
  print(`\n${title}`);
  printTable(headings, rows);
  printTable(HEADINGS, goals.map(goalRow));
}

/** The sections as Markdown; `reasons` explain missed goals. */
export function growthLines(
  sections: readonly GrowthSection[],
  reasons: Readonly<Record<string, string>>,
): readonly string[] {
  return sections.flatMap(({ title, method, headings, rows, goals }) => [
    `## ${title}`,
    '',
    method,
    '',
    ...markdownTable(headings, rows),
    '',
    ...markdownTable(HEADINGS, goals.map(goalRow)),
    '',
    ...goals
      .filter(({ isMet }) => !isMet)
      .flatMap((goal) => [`**${goal.title} missed.** ${reasons[goal.name] ?? 'Not explained yet.'}`, '']),
  ]);
}
