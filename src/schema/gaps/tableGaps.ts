import type { DocumentNode } from 'graphql';
import { MCP_ACCESS } from '../../auth/mcpAccess';
import { PLANS } from '../../auth/plans';
import { ALL_ROLES, ROLES } from '../../auth/roles';
import { SCOPES } from '../../auth/scopes';
import { enumValuesOf } from '../sdl';
import { sentences } from './sentences';
import { TOTALS_GROUPS } from './totalsGaps';
import { OUTCOMES } from '../upserts';

/* Finds values that an enum of the schema and the table of the code that goes with it do not both have. */

interface Table {
  readonly file: string;
  readonly values: readonly string[];
}

const TABLES: Readonly<Record<string, Table>> = {
  Scope: { file: 'src/auth/scopes.ts', values: Object.keys(SCOPES) },
  Role: { file: 'src/auth/roles.ts', values: Object.keys(ROLES) },
  MemberRole: { file: 'src/auth/roles.ts', values: ALL_ROLES },
  Plan: { file: 'src/auth/plans.ts', values: Object.keys(PLANS) },
  McpAccess: { file: 'src/auth/mcpAccess.ts', values: MCP_ACCESS },
  TotalsGroup: { file: 'src/schema/gaps/totalsGaps.ts', values: TOTALS_GROUPS },
  UpsertOutcome: { file: 'src/schema/upserts.ts', values: OUTCOMES },
};

/** One message per gap, with what to change where. */
export function tableGaps(document: DocumentNode): string[] {
  const ofTables = Object.entries(TABLES).flatMap(([name, { file, values }]) => {
    const declared = enumValuesOf(document, name).map((value) => value.name.value);
    // a schema need not have all of them
    if (declared.length === 0) return [];
    return [
      ...declared
        .filter((value) => !values.includes(value))
        .map((value) => `enum ${name} has ${value}, which ${file} lacks: add it there, or remove it`),
      ...values
        .filter((value) => !declared.includes(value))
        .map((value) => `${file} has ${value}, which enum ${name} lacks: add it there, or remove it`),
    ];
  });
  return [...ofTables, ...descriptionGaps(document)];
}

/** Finds scopes whose description the settings page would not find, since it begins with another. */
function descriptionGaps(document: DocumentNode): string[] {
  return enumValuesOf(document, 'Scope').flatMap(({ name: { value: name }, description }) => {
    const scope = (SCOPES as Readonly<Record<string, string>>)[name];
    return sentences(
      scope !== undefined &&
        description !== undefined &&
        !description.value.startsWith(`${scope}: `) &&
        `the description of ${name} in enum Scope does not begin with its scope: write "${scope}: " and what it allows`,
    );
  });
}
