/*
 * How many posts a gateway has under way, and whose: no endpoint and no organisation can take the places of others, and those that failed last
 * share few.
 */

export interface Claim {
  readonly organisation: string;
  /** Whether the endpoint's last attempt failed. */
  readonly isSuspect: boolean;
}

/** Posts under way: in all, of an organisation, and of all endpoints that failed last. */
export const MOST_POSTS = { all: 64, organisation: 16, suspects: 16 } as const;

export type Places = ReturnType<typeof createPlaces>;

export function createPlaces(most: Readonly<Record<keyof typeof MOST_POSTS, number>> = MOST_POSTS) {
  const ofOrganisation = new Map<string, number>();
  let [all, suspects] = [0, 0];
  let waiting: { readonly claim: Claim; readonly admit: () => void }[] = [];

  function fits({ organisation, isSuspect }: Claim): boolean {
    if (all >= most.all || (isSuspect && suspects >= most.suspects)) return false;
    return (ofOrganisation.get(organisation) ?? 0) < most.organisation;
  }

  function count({ organisation, isSuspect }: Claim, by: 1 | -1): void {
    all += by;
    if (isSuspect) suspects += by;
    const own = (ofOrganisation.get(organisation) ?? 0) + by;
    if (own > 0) ofOrganisation.set(organisation, own);
    else ofOrganisation.delete(organisation);
  }

  function admitWaiting(): void {
    if (waiting.length === 0) return;
    waiting = waiting.filter(({ claim, admit }) => {
      if (!fits(claim)) return true;
      count(claim, 1);
      admit();
      return false;
    });
  }

  return {
    /** Resolves when there is a place, in order among those who could have it. Each must be given back once. */
    async take(claim: Claim): Promise<() => void> {
      if (fits(claim)) count(claim, 1);
      else await new Promise<void>((admit) => waiting.push({ claim, admit }));
      return () => {
        count(claim, -1);
        admitWaiting();
      };
    },
    /** Posts under way. */
    taken: (): number => all,
  };
}
