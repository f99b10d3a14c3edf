import { CONTENT_TYPES, declaredType, requireType, servedType } from '../../src/attachments/contentTypes';
import { dispositionOf, fileNameOf } from '../../src/attachments/fileName';
import { spanOf } from '../../src/attachments/range';
import type { AppError } from '../../src/errors';

/* What an upload says of its file, and which part of one is asked for. */

const errorOf = (work: () => unknown): AppError | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error as AppError;
  }
};
const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const PNG = latin('\x89PNG\r\n\x1a\n rest');
const PDF = latin('%PDF-1.7 rest');
const ZIP = latin('PK\x03\x04 rest');
const OLD_OFFICE = latin('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1');

test.each([
  ['application/pdf', Buffer.concat([Buffer.alloc(900), PDF]), true],
  ['application/pdf', Buffer.concat([Buffer.alloc(1024), PDF]), 'application/octet-stream'],
  ['application/pdf', PNG, 'image/png'],
  ['image/png', PDF, 'application/pdf'],
  ['image/png', latin('\x89PNG'), 'application/octet-stream'],
  ['image/jpeg', latin('\xff\xd8\xff\xe0'), true],
  ['image/jpeg', latin('plain'), 'text'],
  ['image/gif', latin('GIF89a'), true],
  ['image/webp', latin('RIFF1234WEBP'), true],
  ['image/webp', latin('RIFF1234WAVE'), 'text'],
  ['image/tiff', latin('II*\0'), true],
  ['image/heic', latin('\0\0\0\x18ftypheic'), true],
  ['image/heic', latin('\0\0\0\x18ftypmif1'), true],
  ['image/heic', latin('\0\0\0\x20ftypisom'), 'application/octet-stream'],
  ['image/png', latin('\0\0\0\x20ftypmp42\xff'), 'application/octet-stream'],
  ['application/vnd.ms-powerpoint', OLD_OFFICE, true],
  ['application/vnd.oasis.opendocument.presentation', ZIP, true],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ZIP, true],
  // with a password
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', OLD_OFFICE, true],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', OLD_OFFICE, true],
  ['application/vnd.openxmlformats-officedocument.presentationml.presentation', OLD_OFFICE, true],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', PDF, 'application/pdf'],
  ['application/vnd.oasis.opendocument.text', OLD_OFFICE, 'application/msword'],
  ['application/zip', PDF, 'application/pdf'],
  ['application/msword', OLD_OFFICE, true],
  ['application/msword', ZIP, 'application/zip'],
  ['text/plain', Buffer.from('é'), true],
  ['text/csv', latin('\xe9'), 'not text'],
  ['application/json', latin('{"a":"\0"}'), 'not text'],
  ['application/octet-stream', latin('<svg/>'), true],
])('of %s', (type, bytes, fits) => {
  const error = errorOf(() => {
    requireType(type, bytes);
  });
  if (fits === true) expect(error).toBeUndefined();
  else {
    const looks =
      fits === 'not text' ? 'but the body is not text in UTF-8.' : `but the body looks like ${String(fits)}.`;
    expect([error?.code, error?.detail]).toEqual(['unsupported_media_type', `Content-Type is ${type}, ${looks}`]);
  }
});

test.each([
  ['text/html', 'Attachments cannot be text/html; application/octet-stream takes any bytes.'],
  ['image/svg+xml', 'Attachments cannot be image/svg+xml; application/octet-stream takes any bytes.'],
  ['', 'Attachments cannot be of this Content-Type; application/octet-stream takes any bytes.'],
  [';', 'Attachments cannot be of this Content-Type; application/octet-stream takes any bytes.'],
  [undefined, 'Say what the file is in Content-Type; application/octet-stream takes any bytes.'],
  ['text/plain; charset=latin1', 'Send text/plain in UTF-8.'],
])('the Content-Type %s is refused', (header, detail) => {
  const error = errorOf(() => declaredType(header));
  expect([error?.code, error?.detail]).toEqual(['unsupported_media_type', detail]);
  expect(error?.extras.accepts).toEqual({ Accept: CONTENT_TYPES.join(', ') });
});

test('a type is taken without its parameters and case, and nothing is served that a browser runs', () => {
  expect(declaredType('IMAGE/PNG; x=1')).toBe('image/png');
  expect(declaredType('text/csv; charset=UTF-8')).toBe('text/csv');
  expect(servedType('text/csv')).toBe('text/csv; charset=utf-8');
  expect(CONTENT_TYPES.filter((type) => /html|svg|xml$|script|css|xsl/.test(type))).toEqual([]);
});

test.each([
  ['attachment; filename="a \\"b\\".txt"', 'a "b".txt'],
  ['inline; filename=a.txt', 'a.txt'],
  ['attachment; filename="na?ve.txt"; filename*=UTF-8\'\'na%C3%AFve%20%E2%82%AC.txt', 'naïve €.txt'],
  // as curl sends it, and as Node reads it
  [latin('attachment; filename="').toString() + Buffer.from('é.txt').toString('latin1') + '"', 'é.txt'],
  [`attachment; filename="${Buffer.from('é filename*.txt').toString('latin1')}"`, 'é filename*.txt'],
  ["attachment; filename*=UTF-8''Cafe%CC%81.pdf", 'Café.pdf'],
])('the name in %s', (header, name) => {
  expect(fileNameOf(header)).toBe(name);
  expect(dispositionOf(name)).toMatch(/^attachment; filename=[\x20-\x7e]+$/);
});

test.each([
  [undefined, 'required'],
  ['attachment', 'format'],
  ['filename="a', 'format'],
  ["attachment; filename*=UTF-8''%E2%28%A1", 'format'],
  ['attachment; filename=""', 'format'],
  ['attachment; filename="../etc/passwd"', 'format'],
  ['attachment; filename="a\\\\b"', 'format'],
  ['attachment; filename=".."', 'format'],
  ["attachment; filename*=UTF-8''a%0D%0ASet-Cookie:x", 'format'],
  ["attachment; filename*=UTF-8''a%E2%80%AEfdp.exe", 'format'],
  [`attachment; filename="${'a'.repeat(256)}"`, 'length'],
  [`attachment; filename*=UTF-8''${'%E2%82%AC'.repeat(86)}`, 'length'],
])('no name in %s', (header, code) => {
  const error = errorOf(() => fileNameOf(header));
  expect([error?.code, error?.extras.errors?.[0]]).toMatchObject([
    'invalid_request',
    { parameter: 'Content-Disposition', code },
  ]);
});

test('a name that is far too long is not normalised', () => {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  const marks = Buffer.from(`a${'\u0345'.repeat(3800)}${'\u0334'.repeat(3800)}`).toString('latin1');
  const error = errorOf(() => fileNameOf(`attachment; filename="${marks}.pdf"`));
  const { calls } = normalize.mock;
  normalize.mockRestore();
  expect(error?.extras.errors).toMatchObject([{ code: 'length' }]);
  expect(calls).toEqual([]);
});

test.each([
  [undefined, undefined],
  ['bytes=0-0', { start: 0, end: 1 }],
  ['bytes=5-', { start: 5, end: 100 }],
  ['bytes=-5', { start: 95, end: 100 }],
  ['bytes=-500', { start: 0, end: 100 }],
  ['bytes=90-1000', { start: 90, end: 100 }],
  ['Bytes=1-2', { start: 1, end: 3 }],
  ['bytes=100-', null],
  ['bytes=1000000000000000-', null],
  [`bytes=${'9'.repeat(400)}-`, null],
  [`bytes=99-${'9'.repeat(16)}`, { start: 99, end: 100 }],
  ['bytes=-0', null],
  ['bytes=9-3', undefined],
  ['bytes=0-1,5-6', undefined],
  ['items=0-1', undefined],
  ['bytes=-', undefined],
  ['bytes=0x1-2', undefined],
])('the range %s of 100 bytes', (header, span) => {
  expect(spanOf(header, 100)).toEqual(span);
});
