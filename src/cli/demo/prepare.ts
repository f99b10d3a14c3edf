import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Plan, PLANS } from '../../access/plans';
import type { Organisation } from '../../access/principal';
import type { Config } from '../../config';
import type { OrganisationData } from '../../database/organisationData';
import { CommandFailure } from '../common/failure';
import { importPath } from '../import/importPath';
import { ndjsonLines } from '../import/ndjsonLines';
import { operator, type Store } from '../common/open';
import { createProgress } from '../common/progress';
import { note } from '../common/terminal';
import { demoKeyOf } from './demoKey';

export interface PreparedDemo {
  readonly organisation: Organisation;
  readonly demoKey: string;
  /** A quote to try. */
  readonly quoteId: string;
  /** Token of a sign-in link: signs in as an admin, once, within 15 minutes. */
  readonly signInToken: string;
}

const NORTHWIND = join(__dirname, '..', '..', '..', 'examples', 'northwind');

const organisationFile = z.object({
  name: z.string(),
  plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
  currency: z.string(),
});

/** Creates the demo's organisation, data and key, unless they exist. */
export async function prepareDemo(
  { control, databases }: Store,
  config: Config,
  signal: AbortSignal,
): Promise<PreparedDemo> {
  const organisation = (await control.organisations.findDemo()) ?? (await createOrganisation(control));
  await loadNorthwind(await databases.open(organisation), signal);
  signal.throwIfAborted();
  const demoKey = await demoKeyOf(control.apiKeys, organisation, config);
  const user = { id: 'link:demo', name: 'demo' };
  const link = await control.sessions.makeLink({ organisationId: organisation.id, user, role: 'admin' }, operator());
  if (demoKey === undefined || !link) {
    throw new CommandFailure('the demo organisation was removed while the demo was starting; start it again');
  }
  return { organisation, demoKey, quoteId: await firstQuote(), signInToken: link.token };
}

async function createOrganisation({ organisations }: Store['control']): Promise<Organisation> {
  const text = await readFile(join(NORTHWIND, 'organisation.json'), 'utf8');
  return organisations.create({ ...organisationFile.parse(JSON.parse(text)), demo: true });
}

/** Loads the files that are not fully in the database, so that an interrupted load is completed. */
async function loadNorthwind(data: OrganisationData, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  const reports = await importPath({
    data,
    path: NORTHWIND,
    wanted: async (kind, path) => (await kind.count(data)) < (await countLines(path)),
    onFault: ({ path, line, pointer = '', detail }) => faults.push(`${path}:${String(line)}: ${pointer} ${detail}`),
    progress: createProgress(),
    signal,
  });
  if (faults.length > 0) throw new CommandFailure(`the example data is corrupt:\n${faults.join('\n')}`);
  const loaded = Object.values(reports).reduce((sum, { read }) => sum + read, 0);
  if (loaded > 0) note(`loaded ${String(loaded)} records from examples/northwind`);
}

async function countLines(path: string): Promise<number> {
  let count = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of chunk) if (byte === 0x0a) count += 1;
  }
  return count;
}

async function firstQuote(): Promise<string> {
  for await (const { content } of ndjsonLines(join(NORTHWIND, 'quotes.ndjson'))) {
    if ('text' in content) return (JSON.parse(content.text) as { id: string }).id;
  }
  throw new CommandFailure('examples/northwind/quotes.ndjson is empty');
}
