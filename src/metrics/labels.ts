/**
 * The operation label of a request, from a bounded set: the name of its only root field, `introspection`, `multiple`
 * for several, `other` for a field or fragment not in the schema, `none` if it failed before that was known.
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
