import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../../src/config';
import { DARK, RAISED } from '../../src/config/brand';
import express from 'express';
import { createPages } from '../../src/pages';
import { createSite } from '../../src/pages/site';
import { faultsOf } from '../support/configFaults';

/* The variables of a deployment's own brand. */

const folder = mkdtempSync(join(tmpdir(), 'scopegate-brand-'));
function file(name: string, contents: string | Buffer): string {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
}
const PNG = Buffer.from('89504e470d0a1a0a00', 'hex');

test.each([
  ['BRAND_COLOUR', '#ffcc00', /^ {2}BRAND_COLOUR: has a contrast of 1\.3 .* such as #[0-9a-f]{6}$/m],
  ['BRAND_COLOUR', 'teal', /BRAND_COLOUR: must be #rrggbb/],
  ['BRAND_NAME', 'two\nlines', /BRAND_NAME: must be 1 to 40 characters of one line/],
  ['BRAND_NAME', 'evil\u202ename', /BRAND_NAME: must be/],
  ['BRAND_DESCRIPTION', 'two\nlines', /BRAND_DESCRIPTION: must be 1 to 300 characters of one line/],
  ['BRAND_DESCRIPTION', 'x'.repeat(301), /BRAND_DESCRIPTION: must be 1 to 300/],
  ['BRAND_HOME', 'javascript:alert(1)', /BRAND_HOME: must be an https URL/],
  ['BRAND_LOGO', join(folder, 'absent.svg'), /BRAND_LOGO: cannot be read: ENOENT/],
  ['BRAND_LOGO', file('logo.gif', 'GIF89a'), /BRAND_LOGO: must be an SVG or a PNG/],
  ['BRAND_LOGO', '/dev/zero', /BRAND_LOGO: \/dev\/zero is larger than 65536 bytes/],
  ['FRAME_ANCESTORS', 'https://app.example.com/path', /FRAME_ANCESTORS: must be origins/],
  ['FRAME_ANCESTORS', 'https://*.example.com', /FRAME_ANCESTORS: must be origins/],
  ['FRAME_ANCESTORS', 'https://app.example.com', /PUBLIC_URL: must be an https URL if FRAME_ANCESTORS is set/],
])('%s=%j is refused with what to change', (name, value, fault) => {
  expect(faultsOf({ [name]: value })).toMatch(fault);
});

test('a suggested colour is accepted, and logos are known by their contents', () => {
  const [, suggested] = /such as (#\w{6})/.exec(faultsOf({ BRAND_COLOUR: '#ff8800' })) ?? [];
  expect(readConfig({ BRAND_COLOUR: suggested }).BRAND_COLOUR?.text[0]).toBe(suggested);
  expect(readConfig({ BRAND_LOGO: file('logo', PNG) }).BRAND_LOGO?.type).toBe('image/png');
  const svg = '<?xml version="1.0"?>\n<!-- made by hand -->\n<svg xmlns="http://www.w3.org/2000/svg"/>';
  expect(readConfig({ BRAND_LOGO: file('logo.txt', svg) }).BRAND_LOGO?.type).toBe('image/svg+xml');
});

test.each([
  ['Projects of builders', 'Projects of builders.'],
  ['Projects of builders.', 'Projects of builders.'],
  ['Bauprojekte – für alle!', 'Bauprojekte – für alle!'],
])('the description %j is the sentence %j', (given, sentence) => {
  expect(readConfig({ BRAND_DESCRIPTION: given }).BRAND_DESCRIPTION).toBe(sentence);
});

test('the grounds that text is read on are those of the pages', () => {
  const tokens = readFileSync(join(__dirname, '../../web/tokens.css'), 'utf8');
  const token = (name: string) => new RegExp(`--${name}: light-dark\\((.*), (.*)\\)`).exec(tokens)?.slice(1);
  const hex = (colour: readonly number[]): string => `#${Buffer.from(colour).toString('hex')}`;
  expect(token('neutral-2')?.[1]).toBe(hex(DARK));
  expect(token('neutral-4')).toEqual([hex(RAISED.light), hex(RAISED.dark)]);
});

test('the icon at its usual address is the logo', async () => {
  const site = createSite('/api', { name: 'Acme', logo: { type: 'image/png', bytes: PNG } });
  const pages = createPages({ site, others: [express.Router()], introspection: 'public' });
  const server = createServer(pages).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const { headers } = await fetch(`http://127.0.0.1:${String(port)}/favicon.ico`, { redirect: 'manual' });
    expect(headers.get('location')).toMatch(/^\/api\/assets\/logo-\w+\.png$/);
  } finally {
    server.close();
  }
});
