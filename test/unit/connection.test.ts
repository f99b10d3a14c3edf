import { mongo } from 'mongoose';
import { explainDriverError } from '../../src/cli/connection';
import { plainHello } from '../../src/mongo/plainHello';

/* Driver errors that are no state in doctor.md. */

const serverError = (code: number, message: string): Error => new mongo.MongoServerError({ code, message });

test.each<[string, Error, RegExp]>([
  ['Unauthorized', serverError(13, 'not authorized on scopegate to execute command'), /does not allow this user/],
  ["Atlas's for a wrong password", serverError(8000, 'bad auth : authentication failed'), /rejects the user name/],
  [
    "Atlas's for a role",
    serverError(8000, 'not authorized on admin to execute command { listShards: 1 }'),
    /allow this/,
  ],
  ["Atlas's for an action", serverError(8000, 'user is not allowed to do action [find] on [a.b]'), /allow this user/],
  ["Atlas's for space", serverError(8000, 'you are over your space quota, using 513 MB of 512 MB'), /no space left/],
  [
    'about an unsupported mechanism',
    serverError(2, 'mechanism PLAIN not enabled'),
    /does not support the authentication mechanism/,
  ],
])('a driver error that is %s is explained with a fix', (_what, error, words) => {
  expect(explainDriverError(new Error('outer', { cause: error }))?.detail).toMatch(words);
});

test('an unknown driver error is left as it is', () => {
  expect(explainDriverError(serverError(11000, 'duplicate key'))).toBeUndefined();
  expect(explainDriverError(serverError(8000, 'Unallowed argument in listDatabases command'))).toBeUndefined();
  expect(explainDriverError('nothing')).toBeUndefined();
});

test('a URI that the driver cannot read says nothing of its server', async () => {
  expect(await plainHello('mongodb://127.0.0.1/?tls=maybe')).toBeUndefined();
});
