/** Every code of a fault in `errors`. The OpenAPI document lists them, and says that new ones may be added. */
export const FAULT_CODES = {
  required: 'a required value is missing or null',
  type: 'the value has the wrong type',
  format:
    'the value has the wrong format: it is not a valid UUID, date or email address, does not match the pattern, or contains invalid characters',
  length: 'a string or list is too short or too long',
  range: 'a number or time is out of range',
  not_allowed: 'the value is not one of the allowed values',
  unknown: 'the member or parameter is unknown',
  repeated: 'a parameter is repeated',
  several: 'an `Idempotency-Key` was sent with several writes',
  duplicate: 'the same key or id occurs earlier in the call or file',
  conflict: 'the value belongs to another object',
  erased: 'the object was erased, and only the operator can readmit it',
  not_found: 'the referenced object does not exist',
  cursor: 'the cursor is not valid for this list with these filters and this sort',
  depth: 'the body is nested more deeply than any valid body',
  size: 'the body has more values or names than any valid body',
  more: 'not a fault: the number of faults that are not listed',
  json: 'the body, or a line of the file, is not valid JSON',
  encoding: 'the value is not valid UTF-8 or percent-encoding',
  incomplete: 'the body ended before it was complete',
  status: 'the value is not allowed with the status of the object',
  total: 'the amounts do not add up',
  order: 'the lines are not in the order of their positions',
  ended: 'the key is revoked or expired',
  expired: 'the object is no longer kept',
  too_many: 'there are as many objects of this kind as there may be',
  replaced: 'the key was already replaced, and its replacement is active',
  invalid: 'another rule is violated; see `detail`',
} as const;

export type FaultCode = keyof typeof FAULT_CODES;
