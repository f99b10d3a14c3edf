import { ConfigError } from '../../src/config';
import { addressFault, checkAddress } from '../../src/mongo/address';

describe('the URI of a database', () => {
  test.each([
    'mongodb://127.0.0.1',
    'mongodb://user:p%40ss@db1:27017,db2,[::1]:27018/?replicaSet=rs0',
    'mongodb+srv://user:pass@host/?retryWrites=true',
    'mongodb://host/?readPreference=primary',
  ])('%s is accepted', (uri) => {
    expect(addressFault(uri)).toBeUndefined();
  });

  test.each([
    ['mongodb://user:sec@ret@host/', /percent-encoded \(@ is %40/],
    ['mongodb://user:sec/ret@host/', /percent-encoded/],
    ['mongodb://user:sec#ret@host/', /percent-encoded/],
    ['mongodb://user:sec?ret@host/', /percent-encoded/],
    ['mongodb://user:sec%zzret@host/', /percent-encoded/],
    ['mongodb://user:pa@ss?secret@host/', /percent-encoded/],
    ['mongodb://user:pa@ss?secret=&x@host/', /percent-encoded/],
    // a port, without @ and host
    ['mongodb://user:1?.secret', /check its options/],
    // without @ and host, the password is parsed as a host
    ['mongodb://user:secret', /each host must be host or host:port/],
    ['mongodb://host:99999', /with a port from 1 to 65535/],
    ['mongodb://user:secret@', /has no host|percent-encoded|each host/],
    ['mongodb://', /has no host/],
    ['mongodb+srv://a,b', /mongodb\+srv URI cannot have multiple service names/],
    ['mongodb://host/?authSource', /"authSource" cannot be specified with no value/],
    ['mongodb://host/?tls=secret', /tls/],
    ['mongodb://host/?directConnection=1', /directConnection must be either/],
    ['mongodb://host/?nonsense=secret', /nonsense/],
    ['mongodb://host/?nonsense=secret&other=secret', /^options nonsense, other are not supported$/],
    ['mongodb://user:secret@host/?authMechanism=secret', /options/],
    ['mongodb://host/?readPreference=secondaryPreferred', /^option readPreference must be primary/],
  ])('%s is rejected with one sentence that contains no secrets', (uri, words) => {
    const fault = addressFault(uri) ?? '';
    expect(fault).toMatch(words);
    expect(fault).not.toMatch(/sec|ret\b|Cannot read|\n/);
  });

  test('an invalid variable is reported by name', () => {
    const check = (): void => {
      checkAddress({ MONGODB_URI: 'mongodb://user:sec@ret@host/' });
    };
    expect(check).toThrow(ConfigError);
    expect(check).toThrow(/^ {2}MONGODB_URI: is malformed; .*$/m);
    expect(() => {
      checkAddress({ MONGODB_URI: undefined });
    }).not.toThrow();
  });
});
