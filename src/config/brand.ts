import type * as z from 'zod';
import { readBytes } from './smallFile';

/* The variables of a deployment's own brand. Readers for zod's transform report a fault to `context`, and then return undefined. */

/** A file that the pages show in place of the logo. */
export interface Logo {
  readonly type: 'image/svg+xml' | 'image/png';
  readonly bytes: Buffer;
}

/** The logo in a file of at most 64 KiB. */
export function readLogo(path: string, context: z.RefinementCtx): Logo | undefined {
  const read = readBytes(path);
  if ('bytes' in read) {
    const { bytes } = read;
    if (bytes.subarray(0, PNG.length).equals(PNG)) return { type: 'image/png', bytes };
    if (/<svg[\s>]/.test(bytes.toString())) return { type: 'image/svg+xml', bytes };
  }
  context.addIssue({ code: 'custom', message: 'error' in read ? read.error : 'must be an SVG or a PNG' });
  return undefined;
}

/** How a PNG begins. */
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

type Colour = readonly [red: number, green: number, blue: number];

/** The accent of the pages (web/tokens.css), each a colour of light and of dark pages, as `#rrggbb`. */
export interface Accents {
  /** `--accent-1`: a ground. */
  readonly ground: readonly [light: string, dark: string];
  /** `--accent-2`: a line. */
  readonly line: readonly [light: string, dark: string];
  /** `--accent-3`: text and buttons. */
  readonly text: readonly [light: string, dark: string];
}

const WHITE: Colour = [255, 255, 255];
const BLACK: Colour = [0, 0, 0];
/** The ground of cards on dark pages, `--neutral-2` of web/tokens.css. */
export const DARK: Colour = [0x15, 0x1b, 0x23];
/** The ground nearest to text, `--neutral-4`, on light and on dark pages. */
export const RAISED = { light: [0xeb, 0xee, 0xf2], dark: [0x23, 0x2c, 0x38] } as const;
/** The least contrast ratio of text (WCAG 2.2, AA). */
const CONTRAST = 4.5;

/**
 * The accents of a colour `#rrggbb`. Light pages have it as their text, for which it must be dark enough; dark pages have it as little lighter as text
 * there allows. Grounds and lines are mixed in the shares that make about those of web/tokens.css of its own `--accent-3`.
 */
export function readColour(text: string, context: z.RefinementCtx): Accents | undefined {
  const colour = [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)) as unknown as Colour;
  const lightGround = (of: Colour): Colour => mixed(of, WHITE, 0.91);
  const least = (of: Colour): number => Math.min(contrast(of, lightGround(of)), contrast(of, RAISED.light));
  if (least(colour) < CONTRAST) {
    const darker = steps(colour, BLACK).find((step) => least(step) >= CONTRAST) ?? BLACK;
    const ratio = least(colour).toFixed(1);
    context.addIssue({
      code: 'custom',
      message: `has a contrast of ${ratio} to the grounds of light pages, and text needs ${String(CONTRAST)}: choose a darker colour, such as ${hex(darker)}`,
    });
    return undefined;
  }
  const darkGround = mixed(colour, DARK, 0.8);
  const grounds = [darkGround, RAISED.dark];
  const isLight = (of: Colour): boolean => grounds.every((ground) => contrast(of, ground) >= CONTRAST);
  // buttons have it as their ground, with a text that is darker than both of these
  const light = steps(colour, WHITE).find(isLight) ?? WHITE;
  return {
    ground: [hex(lightGround(colour)), hex(darkGround)],
    line: [hex(mixed(colour, WHITE, 0.72)), hex(mixed(colour, DARK, 0.5))],
    text: [hex(colour), hex(light)],
  };
}

/** A colour, and 50 mixtures with more and more of another, which is the last. */
const steps = (from: Colour, to: Colour): Colour[] =>
  Array.from({ length: 51 }, (_, step) => mixed(from, to, step / 50));

/** Two colours mixed; `share` is that of the second, from 0 to 1. */
function mixed(one: Colour, other: Colour, share: number): Colour {
  const part = (at: 0 | 1 | 2): number => Math.round(one[at] * (1 - share) + other[at] * share);
  return [part(0), part(1), part(2)];
}

const hex = (colour: Colour): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** The contrast ratio of two colours, 1 to 21 (WCAG 2.2, definitions of contrast ratio and relative luminance). */
function contrast(one: Colour, other: Colour): number {
  const [less = 0, more = 0] = [luminance(one), luminance(other)].sort((left, right) => left - right);
  return (more + 0.05) / (less + 0.05);
}

/** Relative luminance, 0 to 1; the numbers are the specification's. */
function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
