import type { Organisation } from '../auth/principal';

/* Why an organisation is not created or changed. The messages are for operators. */

/** The organisation that has the given external_ref is being erased. */
export class StillErasingError extends Error {
  override readonly name = 'StillErasingError';
}

/** The organisation has another external_ref, or another organisation has this one. */
export class RefTakenError extends Error {
  override readonly name = 'RefTakenError';

  constructor(message = 'another organisation has this external_ref') {
    super(message);
  }
}

/** A sandbox has the plan and state of its organisation, and these can only be changed there. */
export class SharedByOwnerError extends Error {
  override readonly name = 'SharedByOwnerError';

  constructor({ id, sandbox_of = '' }: Organisation) {
    super(`${id} is the sandbox of ${sandbox_of}, and has its plan and state: change those of ${sandbox_of}`);
  }
}

/** The data of an organisation is where an earlier version stored it, and not here. */
export class NotImportedError extends Error {
  override readonly name = 'NotImportedError';

  constructor(id: string, cluster: string) {
    super(
      `the data of organisation ${id} was on the cluster ${cluster}, and is not here until its export is imported (docs/guides/sharding.md, From MONGODB_CLUSTERS)`,
    );
  }
}

/** An organisation cannot be created with an id, or not yet. */
export class IdTakenError extends Error {
  override readonly name = 'IdTakenError';
}
