import { isUtf8 } from 'node:buffer';
import { parse } from 'content-type';
import { AppError, shorten } from '../errors';

/* The types of files that objects may have, and how their bytes show them. HTML and SVG, which browsers run scripts of, are not among them. */

/** Whether bytes may be of a type. */
type Fits = (bytes: Buffer) => boolean;

const textAt = (bytes: Buffer, place: number, length: number): string =>
  bytes.toString('latin1', place, place + length);
const startsWith =
  (...starts: readonly string[]): Fits =>
  (bytes) =>
    starts.some((start) => textAt(bytes, 0, start.length) === start);

/** The second is how an archive without files begins. */
const isZip = startsWith('PK\x03\x04', 'PK\x05\x06');
/** Compound files, as Office wrote before 2007. */
const isCompound = startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');
const isText: Fits = (bytes) => isUtf8(bytes) && !bytes.includes(0);
const isRiff = startsWith('RIFF');
/** Readers accept the header of a PDF within so many bytes (PDF Reference 1.7, appendix H.3), since some software writes others before it. */
const PDF_WITHIN = 1024;
/** The major brands of HEIF files coded with HEVC, and of those of any codec (ISO/IEC 23008-12); `ftyp` alone is any MP4 too. */
const HEIC_BRANDS = ['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'hevm', 'hevs', 'mif1', 'msf1'];

/** By type; the order matters for what a file that is refused looks like: the first type that it fits. */
const SIGNATURES: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ['application/pdf', (bytes) => bytes.subarray(0, PDF_WITHIN).includes('%PDF-')],
  ['image/png', startsWith('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', startsWith('\xff\xd8\xff')],
  ['image/gif', startsWith('GIF87a', 'GIF89a')],
  ['image/webp', (bytes) => isRiff(bytes) && textAt(bytes, 8, 4) === 'WEBP'],
  ['image/tiff', startsWith('II*\0', 'MM\0*')],
  ['image/heic', (bytes) => textAt(bytes, 4, 4) === 'ftyp' && HEIC_BRANDS.includes(textAt(bytes, 8, 4))],
  ['application/zip', isZip],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', isZip],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', isZip],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', isZip],
  ['application/vnd.oasis.opendocument.text', isZip],
  ['application/vnd.oasis.opendocument.spreadsheet', isZip],
  ['application/vnd.oasis.opendocument.presentation', isZip],
  ['application/msword', isCompound],
  ['application/vnd.ms-excel', isCompound],
  ['application/vnd.ms-powerpoint', isCompound],
  ['application/json', isText],
  ['text/csv', isText],
  ['text/plain', isText],
]);
/** Files of this type may have any bytes. */
const ANY = 'application/octet-stream';

/** Office files of today are archives, but compound files if they have a password. */
const mayBeCompound = (type: string): boolean => type.startsWith('application/vnd.openxmlformats-officedocument.');

export const CONTENT_TYPES: readonly string[] = [...SIGNATURES.keys(), ANY];

const isTextType = (type: string): boolean => SIGNATURES.get(type) === isText;

/** The type that a Content-Type names, in lower case. @throws AppError unsupported_media_type if files may not have it */
export function declaredType(header: string | undefined): string {
  if (header === undefined) throw unsupported(`Say what the file is in Content-Type; ${ANY} takes any bytes.`);
  const { type, parameters } = parse(header);
  if (!CONTENT_TYPES.includes(type)) {
    const named = type === '' ? 'of this Content-Type' : shorten(type);
    throw unsupported(`Attachments cannot be ${named}; ${ANY} takes any bytes.`);
  }
  if (isTextType(type) && !/^(utf-?8|us-ascii)$/i.test(parameters.charset ?? 'utf-8'))
    throw unsupported(`Send ${type} in UTF-8.`);
  return type;
}

/** @throws AppError unsupported_media_type if the bytes are not of the type that Content-Type named, one of {@link CONTENT_TYPES} */
export function requireType(type: string, bytes: Buffer): void {
  if (type === ANY || SIGNATURES.get(type)?.(bytes) || (mayBeCompound(type) && isCompound(bytes))) return;
  if (isTextType(type)) throw unsupported(`Content-Type is ${type}, but the body is not text in UTF-8.`);
  const looksLike = [...SIGNATURES].find(([, fits]) => fits(bytes))?.[0] ?? ANY;
  const shown = isTextType(looksLike) ? 'text' : looksLike;
  throw unsupported(`Content-Type is ${type}, but the body looks like ${shown}.`);
}

/** The Content-Type of a download. */
export const servedType = (type: string): string => (isTextType(type) ? `${type}; charset=utf-8` : type);

function unsupported(detail: string): AppError {
  return new AppError('unsupported_media_type', detail, { accepts: { Accept: CONTENT_TYPES.join(', ') } });
}
