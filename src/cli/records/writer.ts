import type { JsonSchema } from '../../schema/jsonSchema';
import { isObjectSchema, type RecordSchemas, resolveSchema } from './schemas';

/** Writes a value as JSON text. */
export type Write = (value: unknown) => string;

/**
 * A writer of records formatted like the example files: members in SDL order, `, ` and `: ` as separators, non-ASCII
 * unescaped. `decimals` are members written with a decimal point even if whole.
 */
export function recordWriter(schemas: RecordSchemas, schema: JsonSchema, decimals: readonly string[] = []): Write {
  const target = resolveSchema(schemas, schema);
  if (isObjectSchema(target)) {
    const members = Object.entries(target.properties).map(([name, declared]) => {
      const write = decimals.includes(name) ? writeDecimal : recordWriter(schemas, declared, decimals);
      return { name, prefix: `${JSON.stringify(name)}: `, write };
    });
    return (value) => {
      if (value === null || value === undefined) return 'null';
      const row = value as Record<string, unknown>;
      return `{${members.map(({ name, prefix, write }) => prefix + write(row[name])).join(', ')}}`;
    };
  }
  if (target.items !== undefined) {
    const write = recordWriter(schemas, target.items as JsonSchema, decimals);
    return (value) => (Array.isArray(value) ? `[${value.map(write).join(', ')}]` : 'null');
  }
  // a Date serialises as ISO 8601; a missing member becomes null
  return (value) => JSON.stringify(value ?? null);
}

function writeDecimal(value: unknown): string {
  return typeof value === 'number' && Number.isInteger(value) ? value.toFixed(1) : JSON.stringify(value ?? null);
}
