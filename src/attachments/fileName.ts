import { isUtf8 } from 'node:buffer';
import { create, parse } from 'content-disposition';
import { type Fault, invalidRequest } from '../errors';
import { HIDDEN_CHARACTER } from '../units';

/* The name of a file, as Content-Disposition (RFC 6266) has it. */

const HEADER = 'Content-Disposition';
/** The most that most file systems take. */
const MAX_BYTES = 255;
/** No name that is decomposed has more code units. */
const LONGEST = 4 * MAX_BYTES;
const SEPARATOR = /[/\\]/;

/** The name in a request's Content-Disposition, in NFC. @throws AppError invalid_request if there is none that a file may have */
export function fileNameOf(header: string | undefined): string {
  if (header === undefined) refuse('required', 'is required: attachment; filename="report.pdf"');
  const given = nameIn(header) ?? '';
  // before it is normalised, which takes quadratic time for marks in the wrong order
  const name = given.length > LONGEST ? refuseLength() : given.normalize('NFC').trim();
  if (name === '') refuse('format', 'must name the file: attachment; filename="report.pdf"');
  if (Buffer.byteLength(name) > MAX_BYTES) refuseLength();
  if (!name.isWellFormed() || HIDDEN_CHARACTER.test(name))
    refuse('format', 'names a file with control characters or characters that change the direction of text');
  if (SEPARATOR.test(name) || name === '.' || name === '..') refuse('format', 'must name a file without a folder');
  return name;
}

const REFUSED = new RegExp(`${HIDDEN_CHARACTER.source}|${SEPARATOR.source}`, 'gu');

/** The header of a download: `attachment`, so that no browser shows it in its window. Another program may have stored a name that an upload cannot have. */
export const dispositionOf = (name: string): string => create(name.toWellFormed().replaceAll(REFUSED, '?'));

function nameIn(header: string): string | undefined {
  const { filename, 'filename*': encoded } = parse(header).parameters;
  // Node reads headers as Latin-1, but many clients send UTF-8: if all characters are bytes, these may be UTF-8
  const bytes = Buffer.from(filename ?? '', 'latin1');
  const areBytes = encoded === undefined && bytes.toString('latin1') === filename;
  return areBytes && isUtf8(bytes) ? bytes.toString('utf8') : filename;
}

function refuseLength(): never {
  return refuse('length', `names a file of more than ${String(MAX_BYTES)} bytes in UTF-8`);
}

function refuse(code: Fault['code'], detail: string): never {
  throw invalidRequest([{ parameter: HEADER, code, detail }]);
}
