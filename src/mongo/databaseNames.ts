/** Name of an organisation's database: `org_` and the id, a UUID in lower case, without dashes. */
export function databaseName(organisationId: string): string {
  return `org_${organisationId.replaceAll('-', '')}`;
}

/** Matches the name of an organisation's database. */
export const DATABASE_NAME = /^org_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/;

/** The organisation that a database belongs to; undefined if the name is not that of such a database. */
export function organisationOf(database: string): string | undefined {
  const parts = DATABASE_NAME.exec(database);
  return parts ? parts.slice(1).join('-') : undefined;
}
