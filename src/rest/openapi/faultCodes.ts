/**
 * Every code that a fault in `errors` can have, and what is wrong with the value it names. The set is open: callers are told
 * that more may come.
 */
export const FAULT_CODES: Readonly<Record<string, string>> = {
  required: 'it is missing, or null where a value must be',
  type: 'it is of another type',
  format:
    'it has not the form of its kind: a UUID, a date, an e-mail address, a pattern, a text without half characters',
  length: 'a text or a list is too short or too long',
  range: 'a number or a time is too small or too large',
  not_allowed: 'it is none of the values there are',
  unknown: 'there is no such member or parameter',
  repeated: 'a parameter was given more than once',
  several: 'one `Idempotency-Key` came with several writes',
  duplicate: 'the same key or id stands earlier in the same call or file',
  conflict: 'it is taken by another object',
  not_found: 'it names an object that is not there',
  cursor: 'it is no cursor of this list with these filters and this sort',
  depth: 'the body is nested deeper than any valid one',
  size: 'the body holds more values, or more names, than any valid one',
  more: 'no fault itself: how many more there are, which are not listed',
  json: 'the body, or the line of a file, is not JSON',
  encoding: 'it is not valid UTF-8, or not valid percent-encoding',
  incomplete: 'the body ended before it was complete',
  status: 'it does not go with the status of the object',
  total: 'the amounts do not add up',
  order: 'the lines are not in the order of their positions',
  ended: 'the key is revoked or expired',
  invalid: 'another rule is broken, which `detail` tells',
};
