import { WIDTHS } from '../support/browser';
import { inBrowser, pagesScene } from './scene';

/** Copy buttons under which a command has text, wherever it is scrolled to. */
const COVERED = `[...document.querySelectorAll('.command')].flatMap((command) => {
  const [pre, button] = [command.querySelector('pre'), command.querySelector('button')];
  const range = document.createRange();
  range.selectNodeContents(pre);
  const positions = [0, pre.scrollWidth];
  const box = button.getBoundingClientRect();
  const isUnder = (line) => line.right > box.left && line.left < box.right && line.bottom > box.top && line.top < box.bottom;
  const frame = pre.getBoundingClientRect();
  const seen = (line) => ({
    left: Math.max(line.left, frame.left), right: Math.min(line.right, frame.right), top: line.top, bottom: line.bottom,
  });
  return positions.some((x) => {
    pre.scrollLeft = x;
    return [...range.getClientRects()].map(seen).some(isUnder);
  })
    ? [pre.textContent]
    : [];
})`;

inBrowser('the landing page', () => {
  const scene = pagesScene();

  test.each(WIDTHS)(
    'has no copy button over a command at %i px',
    async (width) => {
      await scene.visit({ path: '/', width }, async (page) => {
        await page.waitForSelector('.command button:not([hidden])');
        const cut = await page.evaluate(`[...document.querySelectorAll('[aria-labelledby=calls] pre')].filter((pre) => {
          pre.firstChild.textContent = pre.textContent.replace('$SCOPEGATE_KEY', ${JSON.stringify(scene.key)});
          return innerWidth === 1280 && pre.scrollWidth > pre.clientWidth;
        }).length`);
        expect(cut).toBe(0);
        // as long as a demo's key, or longer
        await page.evaluate(`for (const code of document.querySelectorAll('.command code')) {
        code.append(' '.concat('x'.repeat(200)));
        code.prepend('y'.repeat(200), '\\n');
      }`);
        expect(await page.evaluate(COVERED)).toEqual([]);
      });
    },
    60_000,
  );

  test('selects the command if the browser refuses to copy', async () => {
    const { faults } = await scene.visit('/', async (page) => {
      await page.evaluate(
        `navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'))`,
      );
      const command = page.locator('.command', { hasText: '/api/v1/quotes' });
      await command.getByRole('button').click();
      await command.getByText('Press Ctrl+C').waitFor();
      expect(await page.evaluate('getSelection().toString()')).toContain(`${scene.gateway.url}/api/v1/quotes`);
    });
    expect(faults).toEqual([]);
  }, 60_000);
});
