import {
  _,
  type Ajv2020,
  type Code,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
  str,
} from 'ajv/dist/2020';
import { Type } from 'ajv/dist/compile/util';
import countCharacters from 'ajv/dist/runtime/ucs2length';
import type { FaultLimits } from '../errors';

/*
 * Replaces five of ajv's keywords, so that finding all faults takes linear time and keeps only a few of them, whatever a
 * caller sends (docs/decisions/worst-bodies.md). The schemas do not change.
 */

/** What ajv calls the number of errors so far. */
const ERRORS = new Name('errors');
/** What it calls their list. */
const FOUND = new Name('vErrors');

/** The state of one check, which is called with it as `this`. */
export interface Bounds extends FaultLimits {
  /** Number of faults found beyond those that are kept. */
  unkept: number;
  /** Whether the check stopped counting. */
  isTruncated: boolean;
}

/** The {@link Bounds} in the code of validators, to which ajv passes them (`passContext`). */
const BOUNDS = new Name('this');

/** How ajv's errors, of which one fault may have several, are reduced to faults. */
export interface Faults {
  /** One error per fault. */
  readonly distinct: (errors: readonly ErrorObject[]) => ErrorObject[];
  /** Number of faults from an index on. Allocates nothing, since there may be hundreds of thousands. */
  readonly countFrom: (errors: readonly ErrorObject[], start: number) => number;
}

/** Replaces the keywords of an ajv, which it returns. */
export function boundKeywords(ajv: Ajv2020, { distinct, countFrom }: Faults): Ajv2020 {
  // the last kept error of each list of errors that is full: those before it are distinct already, so only new ones are counted
  const lastKept = new WeakSet<ErrorObject>();
  /** The first `bounds.kept` errors, one per fault; the others are only counted in `bounds.unkept`. */
  const keepFew = (errors: ErrorObject[], bounds: Bounds): ErrorObject[] => {
    const most = bounds.kept;
    const last = errors[most - 1];
    if (last && lastKept.has(last)) {
      bounds.unkept += countFrom(errors, most);
      errors.length = most;
      return errors;
    }
    const faults = distinct(errors);
    bounds.unkept += Math.max(0, faults.length - most);
    const kept = faults[most - 1];
    if (kept) lastKept.add(kept);
    return faults.slice(0, most);
  };
  ajv.removeKeyword('items').addKeyword(items(keepFew));
  for (const keyword of ['minLength', 'maxLength'] as const) ajv.removeKeyword(keyword).addKeyword(lengthOf(keyword));
  ajv.removeKeyword('propertyNames').addKeyword(PROPERTY_NAMES);
  return ajv.removeKeyword('additionalProperties').addKeyword(ADDITIONAL_PROPERTIES);
}

/** Skips the elements of a list that is too long, and those after enough faults; keeps only the first faults. */
function items(keepFew: (errors: ErrorObject[], bounds: Bounds) => ErrorObject[]): CodeKeywordDefinition {
  return {
    keyword: 'items',
    type: 'array',
    schemaType: 'object',
    // as in ajv, so that faults keep its order
    before: 'uniqueItems',
    code(cxt) {
      const { gen, data, parentSchema } = cxt;
      const keep = gen.scopeValue('func', { ref: keepFew });
      const eachItem = (): void => {
        gen.forRange('i', 0, _`${data}.length`, (index) => {
          cxt.subschema({ keyword: 'items', dataProp: index, dataPropType: Type.Num }, gen.name('valid'));
          gen.if(_`${ERRORS} > ${BOUNDS}.kept`, () => {
            gen.assign(FOUND, _`${keep}(${FOUND}, ${BOUNDS})`).assign(ERRORS, _`${FOUND}.length`);
            gen.if(_`${BOUNDS}.unkept > ${BOUNDS}.counted && ${index} < ${data}.length - 1`, () => {
              gen.assign(_`${BOUNDS}.isTruncated`, true).break();
            });
          });
        });
      };
      const { maxItems } = parentSchema as { maxItems?: number };
      if (maxItems === undefined) eachItem();
      else gen.if(_`${data}.length <= ${maxItems}`, eachItem);
    },
  };
}

/** Counts the characters of a string only if its code units, of which a character has one or two, leave open whether it is within the bound. */
function lengthOf(keyword: 'minLength' | 'maxLength'): CodeKeywordDefinition {
  // no `before`: checked after `pattern`, unlike in ajv, since that says more of an empty text
  const comparison = keyword === 'minLength' ? 'fewer' : 'more';
  return {
    keyword,
    type: 'string',
    schemaType: 'number',
    error: {
      message: ({ schemaCode }) => str`must NOT have ${comparison} than ${schemaCode} characters`,
      params: ({ schemaCode }) => _`{limit: ${schemaCode}}`,
    },
    code(cxt) {
      const { gen, data } = cxt;
      const limit = cxt.schema as number;
      const units = _`${data}.length`;
      const characters = _`${gen.scopeValue('func', { ref: countCharacters })}(${data})`;
      cxt.fail(
        keyword === 'minLength'
          ? _`${units} < ${limit} || (${units} < ${2 * limit} && ${characters} < ${limit})`
          : _`${units} > ${limit} && (${units} > ${2 * limit} || ${characters} > ${limit})`,
      );
    },
  };
}

/** Runs code for each member of an object with any keys, such as metadata, unless it has more than `maxProperties`: then that is its only fault. */
function forEachMember({ gen, data, parentSchema }: KeywordCxt, code: (name: Name) => void): void {
  const { maxProperties } = parentSchema as { maxProperties?: number };
  const eachMember = (): void => {
    gen.forIn('name', data, code);
  };
  if (maxProperties === undefined) eachMember();
  else gen.if(_`Object.keys(${data}).length <= ${maxProperties}`, eachMember);
}

/** Checks the keys of an object, after its values: unlike in ajv, which only changes the order of faults. */
const PROPERTY_NAMES: CodeKeywordDefinition = {
  keyword: 'propertyNames',
  type: 'object',
  schemaType: 'object',
  code(cxt) {
    forEachMember(cxt, (name) => {
      const key = { keyword: 'propertyNames', data: name, dataTypes: ['string' as const], propertyName: name };
      cxt.subschema({ ...key, compositeRule: true }, cxt.gen.name('valid'));
    });
  },
};

/** With a schema, checks every value of an object, since jsonSchema.ts never makes `properties` beside it; with `false`, reports the first unknown members and counts the others. */
const ADDITIONAL_PROPERTIES: CodeKeywordDefinition = {
  keyword: 'additionalProperties',
  type: 'object',
  schemaType: ['boolean', 'object'],
  // as in ajv, so that faults keep its order
  before: 'properties',
  error: {
    message: 'is not a known field',
    params: ({ params }) => _`{additionalProperty: ${params.additionalProperty}}`,
  },
  code(cxt) {
    const { gen, data } = cxt;
    if (typeof cxt.schema === 'object') {
      forEachMember(cxt, (name) => {
        const value = { keyword: 'additionalProperties', dataProp: name, dataPropType: Type.Str };
        cxt.subschema(value, gen.name('valid'));
      });
    }
    if (cxt.schema !== false) return;
    const unknown = gen.let('unknown', 0);
    gen.forIn('name', data, (name) => {
      gen.if(isUnknown(cxt, name), () => {
        gen.if(
          _`++${unknown} > ${BOUNDS}.kept`,
          () => gen.code(_`${BOUNDS}.unkept++`),
          () => {
            cxt.setParams({ additionalProperty: name });
            cxt.error();
          },
        );
      });
    });
  },
};

function isUnknown({ parentSchema }: KeywordCxt, name: Name): Code {
  const names = Object.keys((parentSchema.properties as object | undefined) ?? {});
  return names.reduce<Code>((all, key) => _`${all} && ${name} !== ${key}`, _`true`);
}
