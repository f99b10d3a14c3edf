import { type InferRawDocTypeFromSchema, Schema } from 'mongoose';

/*
 * What the schemas of the control database are made of (docs/decisions/control-models.md). A schema says what this version writes. Rows are read
 * as they are stored, so those of earlier versions may lack members, or have others.
 */

/** Options of a collection's schema. Writing or searching by a member that it does not have throws, as it is an error of this program. */
export const ROW = { strict: 'throw', strictQuery: 'throw', minimize: false, id: false, versionKey: false } as const;
/** For a member that is an object. */
export const PART = { ...ROW, _id: false } as const;

// mongoose takes an empty string for a missing one, and here it is a value
Schema.Types.String.checkRequired((value: unknown) => typeof value === 'string');

export const required = {
  text: { type: String, required: true },
  number: { type: Number, required: true },
  flag: { type: Boolean, required: true },
  time: { type: Date, required: true },
} as const;

/** Missing rather than null. */
export const optional = {
  text: { type: String, allowNull: false },
  number: { type: Number, allowNull: false },
  flag: { type: Boolean, allowNull: false },
  time: { type: Date, allowNull: false },
} as const;

/** A member with a type that mongoose takes from this hint, as it cannot infer it. */
interface Typed<T> {
  readonly required: true;
  readonly __rawDocTypeHint: T;
}

/** The same of a member that may be missing. */
export interface Optional<T> {
  readonly __rawDocTypeHint: T;
}

const orNull = <T>(type: object, options?: object) =>
  ({ type, default: null, ...options }) as unknown as Typed<T | null>;

/** In every row, and may be null. */
export const nullable = {
  text: orNull<string>(String),
  time: orNull<Date>(Date),
  oneOf: <T extends string>(values: readonly T[]) => orNull<T>(String, { enum: values }),
  part: <S extends Schema>(schema: S) => orNull<InferRawDocTypeFromSchema<S>>(schema),
};

export const listOf = <T extends string>() => ({ type: [String], required: true }) as unknown as Typed<T[]>;
/** An object with any members. */
export const ANYTHING = { type: Schema.Types.Mixed, required: true } as unknown as Typed<Record<string, unknown>>;

type Immutable<T> = T extends Date ? T : T extends object ? { readonly [Member in keyof T]: Immutable<T[Member]> } : T;

/** A row as it is read, by its schema: plain, and not to be changed. */
export type RowOf<S extends Schema> = Immutable<InferRawDocTypeFromSchema<S>>;
