import type { UpsertReport } from './upsert';

/** An upsert report as the schema shows it: the key under its own name. */
export function reportWith(key: string, report: UpsertReport): unknown {
  return { ...report, results: report.results.map(({ key: value, ...result }) => ({ ...result, [key]: value })) };
}
