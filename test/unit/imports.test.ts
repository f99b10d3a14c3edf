import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { preProcessFile } from 'typescript';

const SOURCE = join(__dirname, '..', '..', 'src');

/** What each file of src imports of src, types and `import()` included. */
function importsOfFiles(): Map<string, string[]> {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const { importedFiles } = preProcessFile(readFileSync(join(SOURCE, file), 'utf8'), true, true);
      const places = importedFiles.map(({ fileName }) =>
        relative(SOURCE, join(SOURCE, file, '..', fileName.replace(/\.js$/, ''))),
      );
      const found = places.flatMap((place) => [`${place}.ts`, join(place, 'index.ts')].filter((one) => known.has(one)));
      return [file, found];
    }),
  );
}

/** The same between the folders of src and the files beside them. */
function importsOfRooms(files: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const rooms = new Map<string, string[]>();
  const roomOf = (file: string): string => file.split('/', 1).join('');
  for (const [file, imports] of files) {
    const room = roomOf(file);
    const others = imports.map(roomOf).filter((other) => other !== room);
    rooms.set(room, [...(rooms.get(room) ?? []), ...others]);
  }
  return rooms;
}

/** A way from something back to itself; undefined if there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): string | undefined {
  const done = new Set<string>();
  function follow(at: string, way: readonly string[]): string | undefined {
    if (way.includes(at)) return [...way.slice(way.indexOf(at)), at].join(' -> ');
    if (done.has(at)) return undefined;
    for (const next of imports.get(at) ?? []) {
      const circle = follow(next, [...way, at]);
      if (circle !== undefined) return circle;
    }
    done.add(at);
    return undefined;
  }
  for (const start of imports.keys()) {
    const circle = follow(start, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}

describe('imports of src, types included,', () => {
  const files = importsOfFiles();

  test('are found', () => {
    expect(files.get('gateway.ts')).toEqual(expect.arrayContaining(['callers.ts', 'faces.ts']));
    expect(files.get(join('tracing', 'index.ts'))).toContain(join('tracing', 'openTelemetry.ts'));
  });

  test('have no circle of files', () => {
    expect(circleIn(files)).toBeUndefined();
  });

  test('have no circle of folders', () => {
    expect(circleIn(importsOfRooms(files))).toBeUndefined();
  });

  test.each([
    [{ a: ['b'], b: ['c'], c: [] }, undefined],
    [{ a: ['b'], b: ['c'], c: ['b'] }, 'b -> c -> b'],
  ])('are followed: %j', (imports, circle) => {
    expect(circleIn(new Map(Object.entries(imports)))).toBe(circle);
  });
});
