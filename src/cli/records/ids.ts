import { isObject } from '../../stored/elementFaults';
import type { JsonSchema } from '../../schema/jsonSchema';
import { comparable, isCompared } from '../../schema/callerKeys';
import { isObjectSchema, type RecordSchemas, resolveSchema } from './schemas';

/** Changes a record in place; values whose type does not match the schema are left alone. */
export type Amend = (value: Record<string, unknown>) => void;

/**
 * Normalises the identifiers in a record to the form used for lookups: UUIDs in lower case, unique keys in NFC. Exports
 * from other systems may differ.
 */
export function respellNames(schemas: RecordSchemas, schema: JsonSchema): Amend {
  const steps: Amend[] = [];
  for (const [member, declared] of Object.entries(isObjectSchema(schema) ? schema.properties : {})) {
    const target = resolveSchema(schemas, declared);
    if (target.format === 'uuid') steps.push(respell(member, (id) => id.toLowerCase()));
    else if (isCompared(member)) steps.push(respell(member, comparable));
    else if (isObjectSchema(target)) {
      const amend = respellNames(schemas, target);
      steps.push((value) => {
        if (isObject(value[member])) amend(value[member]);
      });
    } else if (target.items !== undefined) {
      const amend = respellNames(schemas, resolveSchema(schemas, target.items as JsonSchema));
      steps.push((value) => {
        const items = value[member];
        if (Array.isArray(items)) items.filter(isObject).forEach(amend);
      });
    }
  }
  return (value) => {
    for (const step of steps) step(value);
  };
}

function respell(member: string, spelling: (text: string) => string): Amend {
  return (value) => {
    const text = value[member];
    if (typeof text === 'string') value[member] = spelling(text);
  };
}
