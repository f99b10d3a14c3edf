import { type InferRawDocTypeFromSchema, Schema } from 'mongoose';

/*
 * What the schemas of the control database are made of (docs/decisions/control-models.md). A schema says what this version writes. Rows are read
 * as they are stored, so those of earlier versions may lack members, or have others.
 */

/** Writing or searching by a member that a schema does not have is an error of ours. */
export const ROW = { strict: 'throw', strictQuery: 'throw', minimize: false, id: false, versionKey: false } as const;
/** For a member that is an object. */
export const PART = { ...ROW, _id: false } as const;

// an empty string is a value
Schema.Types.String.checkRequired((value: unknown) => typeof value === 'string');

export const TEXT = { type: String, required: true } as const;
export const NUMBER = { type: Number, required: true } as const;
export const FLAG = { type: Boolean, required: true } as const;
export const TIME = { type: Date, required: true } as const;

export const OPTIONAL_TEXT = { type: String, allowNull: false } as const;
export const OPTIONAL_NUMBER = { type: Number, allowNull: false } as const;
export const OPTIONAL_FLAG = { type: Boolean, allowNull: false } as const;
export const OPTIONAL_TIME = { type: Date, allowNull: false } as const;

/** A member with a type that mongoose does not infer. */
interface Typed<T> {
  readonly required: true;
  readonly __rawDocTypeHint: T;
}

/** A member that every row has, and that may be null. */
const nullable = <T>(type: object, options?: object) =>
  ({ type, default: null, ...options }) as unknown as Typed<T | null>;

export const TEXT_OR_NULL = nullable<string>(String);
export const TIME_OR_NULL = nullable<Date>(Date);
export const oneOfOrNull = <T extends string>(values: readonly T[]) => nullable<T>(String, { enum: values });
export const partOrNull = <S extends Schema>(schema: S) => nullable<InferRawDocTypeFromSchema<S>>(schema);

export const listOf = <T extends string>() => ({ type: [String], required: true }) as unknown as Typed<T[]>;
/** An object with any members. */
export const anything = () =>
  ({ type: Schema.Types.Mixed, required: true }) as unknown as Typed<Record<string, unknown>>;

type Immutable<T> = T extends Date ? T : T extends object ? { readonly [Member in keyof T]: Immutable<T[Member]> } : T;

/** A row of a schema's collection. */
export type RowOf<S extends Schema> = Immutable<InferRawDocTypeFromSchema<S>>;
