import { csvOf } from '../../web/settings/csvText';

/* The audit log as a file for spreadsheets. */

const csv = (name: string): string => csvOf(['name'], [{ name }]);

test.each(['=', '+', '-', '@', '＝', '＋', '－', '＠', '\t', '\r', '\n'])(
  'a cell that begins with %j is not a formula',
  (sign) => {
    expect(csv(`${sign}cmd()`)).toBe(`\ufeffname\r\n"'${sign}cmd()"\r\n`);
  },
);

test('other cells stay as they are, in quotes where they need them', () => {
  expect(csv('1 = 1')).toBe('\ufeffname\r\n1 = 1\r\n');
  // a spreadsheet may split at a semicolon
  expect(csv('a;=b')).toBe('\ufeffname\r\n"a;=b"\r\n');
  expect(csv('a, "b"')).toBe('\ufeffname\r\n"a, ""b"""\r\n');
  expect(csvOf(['name', 'times'], [{ name: null as string | null, times: 2 }])).toBe('\ufeffname,times\r\n,2\r\n');
});
