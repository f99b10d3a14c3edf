import { type Measured, startMeasured } from './server';
import type { Cores } from '../machine';
import type { Content, Rig } from '../rig';
import { type EventRounds, measureEvents } from './events';
import { type Grown, grow } from './grow';
import { measureImport } from './importing';
import { makeTenants, measureOrganisations, type OrganisationCounts } from './organisations';
import { measureQuotes, type QuoteRounds } from './quotes';
import { printGrowth } from './report';
import type { GrowthSection } from './section';
import { measureSoak, type SoakOptions } from './soak';

/* Checks that latency and memory do not grow with data, number of organisations and uptime. */

interface GrowthScale {
  /** Quotes per organisation. */
  readonly sizes: readonly number[];
  readonly quoteRounds: QuoteRounds;
  readonly organisations: OrganisationCounts;
  /** Records per file. */
  readonly imported: number;
  readonly events: EventRounds;
  readonly soak: Omit<SoakOptions, 'minutes'>;
}

const FULL: GrowthScale = {
  sizes: [1e3, 1e4, 1e5, 1e6],
  // SecantusDB reads a whole index range for each page: 8.7 s with a million quotes, with the driver alone
  quoteRounds: { rounds: 5, calls: 200, seconds: 2, pagesUpTo: 1e5 },
  organisations: { few: 10, warm: 1000, all: 5000, again: 100 },
  imported: 50_000,
  events: {
    rounds: 9,
    seconds: 2,
    timed: 500,
    burst: 20_000,
    endpoints: 100,
    backlog: { sizes: [1e3, 1e6], attempts: 160 },
  },
  soak: { perSecond: 50, every: 5 },
};

const SMOKE: GrowthScale = {
  sizes: [100, 400],
  quoteRounds: { rounds: 1, calls: 5, seconds: 1, pagesUpTo: 400 },
  organisations: { few: 2, warm: 4, all: 6, again: 5 },
  imported: 50,
  events: { rounds: 1, seconds: 0.3, timed: 5, burst: 100, endpoints: 2, backlog: { sizes: [10, 100], attempts: 8 } },
  soak: { perSecond: 20, every: 0.5 },
};

export const GROWTH_PARTS = ['growth-quotes', 'growth-organisations', 'growth-import', 'events', 'soak'] as const;
export type GrowthPart = (typeof GROWTH_PARTS)[number];

interface GrowthOptions {
  readonly parts: readonly GrowthPart[];
  readonly isSmoke: boolean;
  readonly soakMinutes: number;
  readonly cores: Cores | undefined;
  readonly say: (line: string) => void;
}

/** The parts selected on the command line. */
export function growthParts({
  growth,
  soak,
  events,
  only,
}: {
  growth: boolean;
  soak: boolean;
  events: boolean;
  only: readonly string[] | undefined;
}): GrowthPart[] {
  const asked: Partial<Record<GrowthPart, boolean>> = { soak, events };
  return GROWTH_PARTS.filter((part) => (asked[part] ?? growth) && (only?.includes(part) ?? true));
}

/** Measures the parts in turn, each with its own server. */
export async function measureGrowth(
  rig: Rig,
  content: Content,
  { parts, isSmoke, soakMinutes, cores, say }: GrowthOptions,
): Promise<GrowthSection[]> {
  const scale = isSmoke ? SMOKE : FULL;
  const measures: Record<GrowthPart, () => Promise<GrowthSection>> = {
    'growth-import': () => measureImport(rig, cores, scale.imported),
    'growth-quotes': async () => {
      const grown: Grown[] = [];
      for (const size of scale.sizes) {
        say(`${size.toLocaleString('en')} quotes …`);
        grown.push(await grow(rig, size));
      }
      return withServer((server) => measureQuotes(rig, server, grown, scale.quoteRounds));
    },
    'growth-organisations': async () => {
      say(`${scale.organisations.all.toLocaleString('en')} organisations …`);
      const tenants = await makeTenants(rig, scale.organisations.all);
      return withServer((server) => measureOrganisations(server, tenants, scale.organisations));
    },
    events: () => measureEvents(rig, cores, content, scale.events),
    soak: () => withServer((server) => measureSoak(server, content, { ...scale.soak, minutes: soakMinutes })),
  };
  async function withServer(work: (server: Measured) => Promise<GrowthSection>): Promise<GrowthSection> {
    const server = await startMeasured(rig, cores);
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  }
  const sections: GrowthSection[] = [];
  for (const part of parts) {
    say(`${part} …`);
    const section = await measures[part]();
    printGrowth(section);
    sections.push(section);
  }
  return sections;
}
