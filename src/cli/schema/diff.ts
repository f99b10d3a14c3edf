import { readFileSync, statSync } from 'node:fs';
import {
  buildASTSchema,
  buildSchema,
  findBreakingChanges,
  findDangerousChanges,
  type GraphQLSchema,
  isObjectType,
} from 'graphql';
import { keySdl } from '../../graphql';
import { SchemaModel } from '../../schema/model';
import { ownErrors } from '../../schema/own/check';
import { readOurs } from '../../sdl/files';
import { ownFolder } from '../../sdl/folder';
import { joined, readOwn } from '../../sdl/own';
import { CommandFailure } from '../ending';
import type { JsonOption } from '../help';
import { print, printJson } from '../terminal';

/** `scopegate schema diff`. @throws CommandFailure if a change breaks callers */
export function diffCommand(
  dir: string | undefined,
  { against, json }: JsonOption & { readonly against: string },
): Promise<void> {
  const [before, now] = [schemaOf(against), schemaOf(dir ?? ownFolder())];
  const breaking = findBreakingChanges(before, now).map(({ description }) => description);
  const safe = [...findDangerousChanges(before, now).map(({ description }) => description), ...addedTo(before, now)];
  if (json) printJson({ breaking, safe });
  else {
    for (const line of breaking) print(`breaking  ${line}`);
    for (const line of safe) print(`safe      ${line}`);
    if (breaking.length + safe.length === 0) print('no change');
  }
  if (breaking.length > 0)
    throw new CommandFailure(
      `${String(breaking.length)} of ${String(breaking.length + safe.length)} changes break callers`,
    );
  return Promise.resolve();
}

/** The schema that keys see, with a folder's additions, or from a file with it. */
function schemaOf(path: string | undefined): GraphQLSchema {
  if (path !== undefined && !isFolder(path)) return buildSchema(readFileSync(path, 'utf8'), { assumeValid: true });
  const errors = path === undefined ? [] : ownErrors(path);
  if (path !== undefined && errors.length > 0) throw new CommandFailure(['invalid schema:', ...errors].join('\n'));
  const ours = readOurs({ noLocation: true });
  const model = new SchemaModel(path === undefined ? ours : joined(ours, readOwn(path, { noLocation: true })));
  const whole = buildASTSchema(model.document, { assumeValidSDL: true, assumeValid: true });
  return buildSchema(keySdl(whole, model.operations), { assumeValid: true });
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    throw new CommandFailure(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** What the schema has now and had not before; graphql-js lists only additions that may surprise. */
function addedTo(before: GraphQLSchema, now: GraphQLSchema): string[] {
  return Object.values(now.getTypeMap()).flatMap((type) => {
    const old = before.getType(type.name);
    if (!old) return [`${type.name} was added.`];
    // graphql-js names values of enums and members of inputs
    const names = (one: typeof type): string[] => (isObjectType(one) ? Object.keys(one.getFields()) : []);
    const known = new Set(names(old));
    return names(type).flatMap((name) => (known.has(name) ? [] : `${type.name}.${name} was added.`));
  });
}
