import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { ApiKey } from '../../auth/keys';
import type { Fault } from '../../errors';
import { toKeyRecord } from '../../organisations/keyRecords';
import type { ExportedPepper } from '../../organisations/pepper';
import { toWebhookRecord } from '../../organisations/webhookRecords';
import type { EndpointRow } from '../../organisations/webhookRows';
import type { RecordKind } from '../../stored/records';
import type { OrganisationData } from '../../tenant/organisationData';
import { idText, LONGEST_LINE } from '../../units';
import { CommandFailure } from '../ending';
import { UNREADABLE } from '../ndjson';
import { createProgress } from '../progress';
import type { ToJson } from '../records';
import { OWNER_ONLY } from './draft';

/* The lines of an export's files. */

/** Maximum number of records to name in the error if they cannot be written. */
const MAX_NAMED = 100;

/** The keys of an organisation that are not those of apps, and the pepper that they are hashed with. */
export interface Keys {
  readonly pepper: ExportedPepper;
  readonly each: () => AsyncIterable<ApiKey>;
}

/** The webhook endpoints of an organisation, and the fingerprint of the master secret of those that name none. */
export interface Webhooks {
  readonly rows: readonly EndpointRow[];
  readonly master: string | undefined;
}

export type Lines = AsyncIterable<string> | Iterable<string>;

/** The records of a kind, as lines. @throws CommandFailure at the end if some could not be imported again */
export async function* recordLines(kind: RecordKind, data: OrganisationData, toJson: ToJson): AsyncGenerator<string> {
  const progress = createProgress();
  progress.start(kind.file, await kind.count(data));
  const named: string[] = [];
  let written = 0;
  let broken = 0;
  try {
    for await (const record of kind.read(data)) {
      const line = kind.faultIn(record) ?? shortEnough(toJson(record));
      if (typeof line !== 'string') {
        broken += 1;
        if (broken <= MAX_NAMED) named.push(`  ${idText(record.id)}: ${`${line.pointer ?? ''} ${line.detail}`.trim()}`);
        continue;
      }
      yield line;
      written += 1;
      progress.update(written, written);
    }
  } finally {
    progress.stop();
  }
  if (broken === 0) return;
  if (broken > MAX_NAMED) named.push(`  and ${String(broken - MAX_NAMED)} more`);
  const reason = `import would refuse these ${kind.file}, as they are stored; correct them in the database`;
  throw new CommandFailure([`nothing was written: ${reason}`, ...named].join('\n'));
}

/** A line, or its fault if import would not read it. */
const shortEnough = (line: string): string | Fault =>
  Buffer.byteLength(line) > LONGEST_LINE ? UNREADABLE.length : line;

/** The lines of keys.ndjson: the fingerprint of the pepper, then the keys. */
export async function* keyLines({ pepper, each }: Keys): AsyncGenerator<string> {
  const { salt, hash, number } = pepper.fingerprint;
  yield JSON.stringify({ pepper: { salt, hash, number } });
  for await (const key of each()) {
    const number = pepper.numberOf(key);
    yield JSON.stringify(toKeyRecord(number === 0 ? key : { ...key, pepper: number }));
  }
}

/** The lines of webhooks.ndjson. */
export const webhookLines = ({ rows, master }: Webhooks): string[] =>
  rows.map((row) => JSON.stringify(toWebhookRecord(row, master)));

/** Writes lines to a new file, and resolves with their number once they would survive a power cut. @throws AbortError when the signal aborts */
export async function writeLines(path: string, lines: Lines, signal: AbortSignal): Promise<number> {
  let count = 0;
  const withNewlines = async function* () {
    for await (const line of lines) {
      yield `${line}\n`;
      count += 1;
    }
  };
  const file = await open(path, 'wx', OWNER_ONLY.file);
  await pipeline(withNewlines, file.createWriteStream({ flush: true }), { signal });
  return count;
}
