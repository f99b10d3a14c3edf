import { mongo } from 'mongoose';
import { connectionFinding } from '../../src/cli/doctor/connection';
import { commandLine } from './commandLine';

/* Cases without a row in doctorStates.test.ts: other malformed URIs, and other driver errors. */

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

async function failedChecks(environment: Record<string, string>): Promise<Check[]> {
  const { code, stdout, stderr } = await commandLine(environment).run('doctor', '--json');
  expect(code).toBe(1);
  expect(stdout + stderr).not.toMatch(/hunter2/);
  return (JSON.parse(stdout) as { checks: Check[] }).checks.filter(({ ok }) => !ok);
}

/** The variables that can contain a URI, and how doctor names them. */
const PLACES = [
  ['MONGODB_URI', 'default', 'MONGODB_URI', 'database', (uri: string) => ({ MONGODB_URI: uri })],
  [
    'MONGODB_CLUSTERS',
    'eu',
    'the entry eu of MONGODB_CLUSTERS',
    'cluster eu',
    (uri: string) => ({ MONGODB_CLUSTERS: `eu=${uri}` }),
  ],
] as const;

describe.each(PLACES)('in %s', (_variable, cluster, entry, check, environment) => {
  test('TLS to a server without it is told, also if the server says nothing', async () => {
    const { host } = new URL(process.env.TEST_MONGODB_URI!);
    const [failed] = await failedChecks(environment(`mongodb://${host}/?tls=true&directConnection=true`));
    expect(failed).toMatchObject({ name: check, ok: false });
    expect(failed!.detail).toContain('TLS is requested, but the server does not answer in TLS');
    expect(failed!.fix).toMatch(/remove tls=true/);
    expect(failed!.fix).toContain(entry);
  });

  test.each([
    ['an option without a value', 'mongodb://ann:hunter2@h/?replicaSet', /replicaSet/],
    ['an unescaped @', 'mongodb://ann:hunt@hunter2@h/', /percent-encoded/],
    ['an unescaped /', 'mongodb://ann:hunt/hunter2@h/', /percent-encoded/],
    ['an unescaped %', 'mongodb://ann:%hunter2@h/', /percent-encoded/],
  ])('%s is reported before connecting', async (_what, uri, words) => {
    const [failed] = await failedChecks(environment(uri));
    expect(failed).toMatchObject({ name: 'environment', detail: expect.stringMatching(words) as unknown });
    expect(failed!.detail).toContain(_variable);
    if (cluster === 'eu') expect(failed!.detail).toMatch(/\beu\b/);
  });
});

describe('a driver error that is', () => {
  test.each<[string, Error, RegExp]>([
    ['Unauthorized', serverError(13, 'not authorized on scopegate to execute command'), /does not allow this user/],
    [
      "Atlas's error for a wrong password",
      serverError(8000, 'bad auth : authentication failed'),
      /rejects the user name/,
    ],
    [
      'about an unsupported mechanism',
      new mongo.MongoServerError({ code: 2, message: 'mechanism PLAIN not enabled' }),
      /way of authentication/,
    ],
  ])('%s is explained with a fix', (_what, error, words) => {
    expect(connectionFinding('default', new Error('outer', { cause: error }))?.message).toMatch(words);
  });

  test('unknown is left as it is', () => {
    expect(connectionFinding('default', serverError(11000, 'duplicate key'))).toBeUndefined();
    expect(connectionFinding('default', 'nothing')).toBeUndefined();
  });

  function serverError(code: number, message: string): mongo.MongoServerError {
    return new mongo.MongoServerError({ code, message });
  }
});
