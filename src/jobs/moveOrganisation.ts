import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WRONG_BY } from '../database/clock';
import { close } from '../database/moving/collections';
import { compareAll, copyAll, type Copying, MoverLost, type Compared, claimTarget } from '../database/moving/copy';
import { createIndexes } from '../database/indexes';
import { databaseTime } from '../database/openWrites';
import type { OrganisationData } from '../database/organisationData';
import { openWrites } from '../database/slots';
import { events } from '../events/collection';
import { awaitTail, clusterTime, recordOwedGap } from '../events/moving';
import { type Moves, SEEN_EVERY } from '../organisations/moving';
import { JobRefused } from '../organisations/jobs';
import { dropUntilGone, requireMover, undo } from './copies';
import type { Report, Stores } from './stores';

export interface Moved {
  readonly from: string;
  readonly compared: Compared;
  /** How long writes were refused, in milliseconds. */
  readonly refused: number;
}

/** How often the new cluster's clock is checked while it is behind, in milliseconds. */
const LOOK_EVERY = 20;

/** One attempt to move an organisation (docs/decisions/organisation-move.md). */
export class Move {
  readonly #mover = randomUUID();
  readonly #lost = new AbortController();
  readonly #signal: AbortSignal;

  constructor(
    private readonly stores: Stores,
    private readonly id: string,
    private readonly to: string,
    private readonly report: Report,
    signal: AbortSignal,
  ) {
    this.#signal = AbortSignal.any([signal, this.#lost.signal]);
  }

  /** @throws JobRefused, FullClusterError; whatever failed, the move is undone unless the message says otherwise */
  async run(): Promise<Moved> {
    const { id, to, stores } = this;
    const { databases, control } = stores;
    const before = await control.moving.movesOf(id);
    if (!before) throw new JobRefused(`there is no organisation ${id}`);
    const { cluster: from } = before.organisation;
    if (from === to) throw new JobRefused(`organisation ${id} is on cluster ${to} already`);
    const [source, target] = [await databases.open({ id, cluster: from }), await databases.open({ id, cluster: to })];
    await compareClocks(source, target);
    if (!before.move) await this.#requireRoom(before, target);
    const began = performance.now();
    const begun = await control.moving.begin(this.#self, to);
    if (!begun) throw new JobRefused(`there is no organisation ${id}`);
    const beating = this.#beat();
    try {
      await this.#dropLeftover(begun, target);
      const compared = await this.#carryOver(source, target);
      const details = { documents: compared.documents, sha256: compared.sha256 };
      const since = await clusterTime(target);
      if (!(await control.moving.finish({ ...this.#self, from, to, since, details }))) throw new MoverLost();
      // the organisation has moved; if this fails, the gap is reported with its next event
      await recordOwedGap(stores, target).catch((error: unknown) => {
        this.report.warn((error as Error).message);
      });
      return { from, compared, refused: performance.now() - began };
    } catch (error) {
      throw await this.#undone(error, source, target);
    } finally {
      this.#lost.abort();
      await beating;
    }
  }

  get #self(): { readonly id: string; readonly mover: string } {
    return { id: this.id, mover: this.#mover };
  }

  /** @throws JobRefused if the cluster has a database that no move left; FullClusterError */
  async #requireRoom({ copies, files }: Moves, target: OrganisationData): Promise<void> {
    if (!copies.some(({ cluster }) => cluster === this.to) && (await target.exists())) {
      throw new JobRefused(
        `cluster ${this.to} already has a database ${target.database.databaseName}, which no move has left; see scopegate doctor`,
      );
    }
    await this.stores.control.placement.choose(this.to, files);
  }

  /** Drops the copy that an undone move left. */
  async #dropLeftover({ copies }: Moves, target: OrganisationData): Promise<void> {
    const { moving } = this.stores.control;
    if (!copies.some(({ cluster }) => cluster === this.to)) return;
    await dropUntilGone(target, () => requireMover(this.stores, this.#self));
    await moving.noteDropped(this.id, this.to);
  }

  /** Does everything between the beginning of the move and the switch; meanwhile nothing is written to the organisation. */
  async #carryOver(source: OrganisationData, target: OrganisationData): Promise<Compared> {
    this.report.note('writes of the organisation get 503 from now on, until the move is done or undone; reads go on');
    this.report.note('waiting for writes under way');
    await source.slots.fence();
    // lists return times even if there is no data
    await createIndexes(source.database, openWrites, []);
    await source.slots.hold();
    // no list has returned a later time than this
    const until = await databaseTime(source);
    const ofEvents = (name: string): boolean => name === events.name;
    const open = await close(source.database, (name) => !ofEvents(name));
    // changes made so far must be among the copied events
    const last = { time: await clusterTime(source), signal: this.#signal };
    const missing = await awaitTail(this.stores, source, last);
    if (missing) {
      this.report.warn('the events of its last changes are not recorded; the organisation gets a gap event');
      await this.stores.control.feeds.oweGap(this.id, missing);
    }
    open.push(...(await close(source.database, ofEvents)));
    if (open.length > 0) {
      this.report.warn(
        `other programs can still write to ${open.join(', ')} on the old cluster; make sure that none does`,
      );
    }
    const copying: Copying = { source, target, mover: this.#mover, signal: this.#signal, onProgress: () => undefined };
    await claimTarget(copying);
    await this.#withProgress('copying', (onProgress) => copyAll({ ...copying, onProgress }));
    const compared = await this.#withProgress('comparing', (onProgress) => compareAll({ ...copying, onProgress }));
    // a mover that was presumed dead and wakes up can write nothing from here on
    await target.slots.fence();
    // later writes must get later times than any list has returned
    while ((await databaseTime(target)) <= until) await sleep(LOOK_EVERY, undefined, { signal: this.#signal });
    this.#signal.throwIfAborted();
    return compared;
  }

  /** Shows that this process is alive, until the move has ended or another process has taken over. */
  async #beat(): Promise<void> {
    while (!this.#lost.signal.aborted) {
      await sleep(SEEN_EVERY, undefined, { signal: this.#lost.signal }).catch(() => undefined);
      // if the database fails here, the work itself fails too
      const isOurs = await this.stores.control.moving.beat(this.#self).catch(() => true);
      if (!isOurs) this.#lost.abort();
    }
  }

  async #withProgress<T>(step: string, work: (onProgress: Copying['onProgress']) => Promise<T>): Promise<T> {
    try {
      return await work((done, total) => {
        this.report.progress(step, done, total);
      });
    } finally {
      this.report.stepEnded();
    }
  }

  /** What to tell the user when this process no longer moves the organisation. */
  async #lostRole(why: string): Promise<JobRefused> {
    const { organisation, move } = (await this.stores.control.moving.movesOf(this.id)) ?? {};
    if (!move && organisation?.cluster === this.to) {
      return new JobRefused(`${why}; but the organisation is on cluster ${this.to} now: it is moved`);
    }
    return new JobRefused('another process has taken over the move; this one has changed nothing since');
  }

  /** Undoes a move that failed. Resolves with what to tell the user. */
  async #undone(error: unknown, source: OrganisationData, target: OrganisationData): Promise<unknown> {
    const why = (error as Error).name === 'AbortError' ? 'interrupted' : (error as Error).message;
    try {
      await undo(this.stores, { ...this.#self, to: this.to }, { source, target, report: this.report });
    } catch (fault) {
      if (fault instanceof MoverLost) return this.#lostRole(why);
      const next = `to undo the move, run scopegate org move ${this.id} --undo`;
      return new JobRefused(`${why}; writes are still refused (${(fault as Error).message}): ${next}`);
    }
    const undone = `${why}; the move is undone, and writes continue on cluster ${source.cluster}`;
    return new JobRefused(undone, { cause: error });
  }
}

/** @throws JobRefused if the new cluster's clock is so far behind that writes would have to wait for it */
async function compareClocks(source: OrganisationData, target: OrganisationData): Promise<void> {
  const [there, here] = await Promise.all([databaseTime(target), databaseTime(source)]);
  if (here - there < WRONG_BY) return;
  const behind = `${String(Math.round((here - there) / 1000))} s behind that of cluster ${source.cluster}`;
  throw new JobRefused(`the clock of cluster ${target.cluster} is ${behind}; correct it with NTP first`);
}
