import {
  _,
  type Ajv2020,
  type Code,
  type CodeKeywordDefinition,
  type ErrorObject,
  type KeywordCxt,
  Name,
} from 'ajv/dist/2020';
import { Type } from 'ajv/dist/compile/util';
import { MOST_FAULTS } from '../errors';

/*
 * Two of ajv's keywords, replaced so that a check that lists every fault stays linear and keeps few of them, whatever a
 * caller sends (docs/decisions/worst-bodies.md). The schemas are none the wiser.
 */

/** ajv's own names for what a check has found so far. */
const [ERRORS, FOUND] = [new Name('errors'), new Name('vErrors')];

/** Faults that the check under way found and did not keep; a check runs in one go, so there is one at a time. */
export const unkept = { faults: 0 };

/** What a check knows of ajv's errors. */
export interface Faults {
  /** An error for each fault, of what ajv reported. */
  readonly distinct: (errors: readonly ErrorObject[]) => ErrorObject[];
  /** How many faults the errors from a place on stand for. Makes nothing: there may be hundreds of thousands. */
  readonly countFrom: (errors: readonly ErrorObject[], start: number) => number;
}

export function boundKeywords(ajv: Ajv2020, { distinct, countFrom }: Faults): Ajv2020 {
  // errors that were the last of as many as are kept: those before them are a fault each
  const settled = new WeakSet<ErrorObject>();
  const keepFew = (errors: ErrorObject[]): ErrorObject[] => {
    const last = errors[MOST_FAULTS - 1];
    if (last && settled.has(last)) {
      unkept.faults += countFrom(errors, MOST_FAULTS);
      errors.length = MOST_FAULTS;
      return errors;
    }
    const faults = distinct(errors);
    unkept.faults += Math.max(0, faults.length - MOST_FAULTS);
    const kept = faults[MOST_FAULTS - 1];
    if (kept) settled.add(kept);
    return faults.slice(0, MOST_FAULTS);
  };
  ajv.removeKeyword('items').addKeyword(items(keepFew));
  return ajv.removeKeyword('additionalProperties').addKeyword(ADDITIONAL_PROPERTIES);
}

/** Looks at no element of a list that is too long, and keeps few faults of one that is not. */
function items(keepFew: (errors: ErrorObject[]) => ErrorObject[]): CodeKeywordDefinition {
  return {
    keyword: 'items',
    type: 'array',
    schemaType: 'object',
    before: 'uniqueItems',
    code(cxt) {
      const { gen, data, parentSchema } = cxt;
      const keep = gen.scopeValue('func', { ref: keepFew });
      const eachItem = (): void => {
        gen.forRange('i', 0, _`${data}.length`, (index) => {
          cxt.subschema({ keyword: 'items', dataProp: index, dataPropType: Type.Num }, gen.name('valid'));
          gen.if(_`${ERRORS} > ${MOST_FAULTS}`, () => {
            gen.assign(FOUND, _`${keep}(${FOUND})`).assign(ERRORS, _`${FOUND}.length`);
          });
        });
      };
      const { maxItems } = parentSchema as { maxItems?: number };
      if (maxItems === undefined) eachItem();
      else gen.if(_`${data}.length <= ${maxItems}`, eachItem);
    },
  };
}

/** Reports few of the members that an object may not have, and counts the others. */
const ADDITIONAL_PROPERTIES: CodeKeywordDefinition = {
  keyword: 'additionalProperties',
  type: 'object',
  schemaType: 'boolean',
  before: 'properties',
  error: {
    message: 'is not known here',
    params: ({ params }) => _`{additionalProperty: ${params.additionalProperty}}`,
  },
  code(cxt) {
    const { gen, data } = cxt;
    if (cxt.schema !== false) return;
    const [unknown, counter] = [gen.let('unknown', 0), gen.scopeValue('obj', { ref: unkept })];
    gen.forIn('name', data, (name) => {
      gen.if(isUnknown(cxt, name), () => {
        gen.if(
          _`++${unknown} > ${MOST_FAULTS}`,
          () => gen.code(_`${counter}.faults++`),
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
  const known = Object.keys((parentSchema.properties as object | undefined) ?? {});
  return known.reduce<Code>((all, one) => _`${all} && ${name} !== ${one}`, _`true`);
}
