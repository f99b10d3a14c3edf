import { isUtf8 } from 'node:buffer';
import { parse } from 'content-type';
import { AppError, shorten } from '../errors';

/* The types of files that objects may have, and how their bytes tell that they are of them. HTML and SVG are not among them. */

type Fits = (bytes: Buffer) => boolean;

const startsWith =
  (...starts: readonly string[]): Fits =>
  (bytes) =>
    starts.some((start) => bytes.subarray(0, start.length).equals(Buffer.from(start, 'latin1')));
const hasAt =
  (place: number, text: string): Fits =>
  (bytes) =>
    bytes.toString('latin1', place, place + text.length) === text;

const isZip = startsWith('PK\x03\x04', 'PK\x05\x06');
/** Compound files, as Office wrote before 2007. */
const isCompound = startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');
const isText: Fits = (bytes) => isUtf8(bytes) && !bytes.includes(0);
const isRiff = startsWith('RIFF');
const isWebp = hasAt(8, 'WEBP');
/** Other software than ours may write some bytes before it. */
const PDF_WITHIN = 1024;

const TYPES: ReadonlyMap<string, Fits> = new Map<string, Fits>([
  ['application/pdf', (bytes) => bytes.subarray(0, PDF_WITHIN).includes('%PDF-')],
  ['image/png', startsWith('\x89PNG\r\n\x1a\n')],
  ['image/jpeg', startsWith('\xff\xd8\xff')],
  ['image/gif', startsWith('GIF87a', 'GIF89a')],
  ['image/webp', (bytes) => isRiff(bytes) && isWebp(bytes)],
  ['image/tiff', startsWith('II*\0', 'MM\0*')],
  ['image/heic', hasAt(4, 'ftyp')],
  ['application/zip', isZip],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', isZip],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', isZip],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', isZip],
  ['application/vnd.oasis.opendocument.text', isZip],
  ['application/vnd.oasis.opendocument.spreadsheet', isZip],
  ['application/msword', isCompound],
  ['application/vnd.ms-excel', isCompound],
  ['application/json', isText],
  ['text/csv', isText],
  ['text/plain', isText],
  ['application/octet-stream', () => true],
]);

/** The types that attachments may have. */
export const CONTENT_TYPES: readonly string[] = [...TYPES.keys()];
/** The type of any bytes. */
const ANY = 'application/octet-stream';
const TEXTS: readonly string[] = ['text/plain', 'text/csv', 'application/json'];

/** The type that a Content-Type names, in lower case. @throws AppError unsupported_media_type if files may not have it */
export function declaredType(header: string | undefined): string {
  const { type, charset = 'utf-8' } = parsed(header);
  if (TYPES.has(type) && (!TEXTS.includes(type) || /^(utf-?8|us-ascii)$/i.test(charset))) return type;
  const detail =
    header === undefined
      ? `Say what the file is in Content-Type; ${ANY} takes any bytes.`
      : TYPES.has(type)
        ? `Send ${type} in UTF-8.`
        : `Attachments cannot be ${type === '' ? 'of this Content-Type' : shorten(type)}; ${ANY} takes any bytes.`;
  throw new AppError('unsupported_media_type', detail, { accepts: { Accept: CONTENT_TYPES.join(', ') } });
}

/** @throws AppError unsupported_media_type if the bytes are not of the type that Content-Type named */
export function requireType(type: string, bytes: Buffer): void {
  if (TYPES.get(type)?.(bytes)) return;
  const [looksLike = ANY] = [...TYPES].find(([, fits]) => fits(bytes)) ?? [];
  const detail = TEXTS.includes(type)
    ? `Content-Type is ${type}, but the body is not text in UTF-8.`
    : `Content-Type is ${type}, but the body looks like ${TEXTS.includes(looksLike) ? 'text' : looksLike}.`;
  throw new AppError('unsupported_media_type', detail, { accepts: { Accept: CONTENT_TYPES.join(', ') } });
}

/** The Content-Type of a download. */
export const servedType = (type: string): string => (TEXTS.includes(type) ? `${type}; charset=utf-8` : type);

function parsed(header: string | undefined): { readonly type: string; readonly charset?: string | undefined } {
  try {
    const { type, parameters } = parse(header ?? '');
    return { type: type.toLowerCase(), charset: parameters.charset };
  } catch {
    return { type: '' };
  }
}
