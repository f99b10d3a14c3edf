/**
 * Label for what a request asked for, out of a bounded set: the name of its one root field, `introspection`, `multiple`
 * for several, `other` for a field or fragment that the schema does not know, `none` where it did not get that far.
 */
export function operationLabel(operations: readonly string[]): (fields: string | undefined) => string {
  const known = new Set(operations);
  return (fields) => {
    if (fields === undefined || fields === '') return 'none';
    if (known.has(fields)) return fields;
    const names = fields.split(' ');
    if (names.every((name) => name.startsWith('__'))) return 'introspection';
    return names.length > 1 ? 'multiple' : 'other';
  };
}
