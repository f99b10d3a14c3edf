import type { JsonSchema } from '../../jsonSchema';
import { isObjectSchema, type RecordSchemas, resolveSchema } from './schemas';

/** Changes a record in place. */
export type Amend = (value: Record<string, unknown>) => void;

/**
 * Lower-cases every UUID of a record that its schema knows, as ids are looked up in lower case: an export of another
 * system may write them in capitals.
 */
export function lowerCaseIds(schemas: RecordSchemas, schema: JsonSchema): Amend {
  const steps: Amend[] = [];
  for (const [member, declared] of Object.entries(isObjectSchema(schema) ? schema.properties : {})) {
    const target = resolveSchema(schemas, declared);
    if (target.format === 'uuid') {
      steps.push((value) => {
        const id = value[member];
        if (typeof id === 'string') value[member] = id.toLowerCase();
      });
    } else if (isObjectSchema(target)) {
      const amend = lowerCaseIds(schemas, target);
      steps.push((value) => {
        if (value[member] !== null) amend(value[member] as Record<string, unknown>);
      });
    } else if (target.items !== undefined) {
      const amend = lowerCaseIds(schemas, resolveSchema(schemas, target.items as JsonSchema));
      steps.push((value) => {
        for (const item of value[member] as Record<string, unknown>[]) amend(item);
      });
    }
  }
  return (value) => {
    for (const step of steps) step(value);
  };
}
