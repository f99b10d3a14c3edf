/* Preloaded (node --require) to print the packages that a program loaded, when it exits. */
process.on('exit', () => {
  const packages = Object.keys(require.cache).flatMap(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  );
  process.stderr.write(`loaded: ${[...new Set(packages)].join(' ')}\n`);
});
