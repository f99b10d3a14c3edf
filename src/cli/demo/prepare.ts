import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Organisation } from '../../auth/principal';
import type { Config } from '../../config';
import type { OrganisationData } from '../../database/organisationData';
import type { NewOrganisation } from '../../organisations/organisations';
import { CommandFailure } from '../common/failure';
import { importPath } from '../import/importPath';
import type { Store } from '../common/open';
import { createProgress } from '../common/progress';
import { note } from '../common/terminal';
import { demoKeyOf } from './demoKey';
import { ROOT } from '../../package';

export interface PreparedDemo {
  readonly organisation: Organisation;
  readonly demoKey: string;
  /** A quote to try. */
  readonly quoteId: string;
  /** Token of a sign-in link: signs in as an admin, once, within 15 minutes. */
  readonly signInToken: string;
}

const NORTHWIND = join(ROOT, 'examples', 'northwind');

/** Creates the demo's organisation, data and key, unless they exist. */
export async function prepareDemo(store: Store, config: Config, signal: AbortSignal): Promise<PreparedDemo> {
  const { control, databases, operator } = store;
  await control.pepper.adopt();
  const organisation =
    (await control.organisations.findDemo()) ?? (await control.organisations.create(await example()));
  await loadNorthwind(await databases.open(organisation), signal);
  signal.throwIfAborted();
  const demoKey = await demoKeyOf(control.apiKeys, organisation, config);
  const user = { id: 'link:demo', name: 'demo' };
  const link = await control.sessions.makeLink({ organisationId: organisation.id, user, role: 'admin' }, operator);
  if (demoKey === undefined || !link) {
    throw new CommandFailure('the demo organisation was removed while the demo was starting; start it again');
  }
  const [quote = ''] = await linesOf('quotes.ndjson');
  const { id: quoteId } = JSON.parse(quote) as { readonly id: string };
  return { organisation, demoKey, quoteId, signInToken: link.token };
}

async function example(): Promise<NewOrganisation> {
  const [line = ''] = await linesOf('organisation.json');
  return { ...(JSON.parse(line) as NewOrganisation), demo: true };
}

async function linesOf(file: string): Promise<string[]> {
  return (await readFile(join(NORTHWIND, file), 'utf8')).trimEnd().split('\n');
}

/** Loads the files that are not fully in the database, so that an interrupted load is completed. */
async function loadNorthwind(data: OrganisationData, signal: AbortSignal): Promise<void> {
  const faults: string[] = [];
  const reports = await importPath({
    data,
    path: NORTHWIND,
    wanted: async (kind, path) => (await kind.count(data)) < (await linesOf(basename(path))).length,
    onFault: ({ path, line, pointer = '', detail }) => faults.push(`${path}:${String(line)}: ${pointer} ${detail}`),
    progress: createProgress(),
    signal,
  });
  if (faults.length > 0) throw new CommandFailure(`the example data is corrupt:\n${faults.join('\n')}`);
  const loaded = Object.values(reports).reduce((sum, { read }) => sum + read, 0);
  if (loaded > 0) note(`loaded ${String(loaded)} records from examples/northwind`);
}
