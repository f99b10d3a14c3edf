import type { LocalKind, Place, ServerPlan } from './types';

/** A real mongod as a one-member replica set, which transactions require. */
export function mongodPlan(mongod: {
  kind: LocalKind;
  command: string;
  version: string;
  storage: string;
  origin: string;
}): ServerPlan {
  const { kind, command, version, storage, origin } = mongod;
  return {
    kind,
    program: 'mongod',
    version,
    title: `MongoDB ${version} (${origin})`,
    command,
    storage,
    replicaSet: 'rs0',
    args: ({ port, storagePath }) => [
      ...['--replSet', 'rs0', '--bind_ip', '127.0.0.1', '--port', String(port), '--dbpath', storagePath],
      // a socket in /tmp would be accessible to every user and left behind after a crash
      ...(process.platform === 'win32' ? [] : ['--nounixsocket']),
    ],
  };
}

/** SecantusDB's Rust server. */
export function secantusRustPlan(command: string, version: string): ServerPlan {
  return {
    kind: 'binary',
    program: 'secantusd-rs',
    version,
    title: `SecantusDB ${version} (MongoDB-compatible, ${command})`,
    command,
    storage: 'secantusd-rs',
    replicaSet: 'secantus',
    // the default cache size is 4 GB
    args: (place) => [...secantusArgs(place), '--cache-size', '1G'],
  };
}

/** SecantusDB's Python server, from its own virtual environment. */
export function secantusPythonPlan(python: string, version: string): ServerPlan {
  return {
    kind: 'secantusdb',
    program: 'secantusd-py',
    version,
    title: `SecantusDB ${version} (MongoDB-compatible, from PyPI)`,
    command: python,
    storage: 'secantusdb',
    replicaSet: 'secantus',
    // isolated, so that neither PYTHONPATH nor a module in the current folder can shadow its own
    args: (place) => ['-I', '-u', '-m', 'secantus', ...secantusArgs(place)],
  };
}

/** --sync-on-commit: without it kill -9 lost 138 of 22,192 acknowledged writes. --config: otherwise it uses any secantusd.toml it finds. */
function secantusArgs({ port, storagePath, configFile }: Place): string[] {
  return [
    ...['--config', configFile, '--host', '127.0.0.1', '--port', String(port)],
    ...['--storage-path', storagePath, '--sync-on-commit', '--log-level', 'WARNING'],
  ];
}
