import { sync, type SyncOptions } from '../../clients/sync/src';

const GATEWAY = { url: 'http://gateway:4000', token: 'secret' };

const MISTAKES: readonly (readonly [options: object, sentence: RegExp])[] = [
  [{ gateway: undefined }, /^`gateway\.url` is missing/],
  [{ gateway: { ...GATEWAY, url: undefined } }, /^`gateway\.url` is missing/],
  [
    { gateway: { ...GATEWAY, url: '127.0.0.1:4100' } },
    /^`gateway\.url` must look like http:.* with http:\/\/ or https:\/\//,
  ],
  [{ gateway: { ...GATEWAY, url: 'http://user:password@gateway' } }, /^`gateway\.url` must look like [^@]*$/],
  [{ gateway: { ...GATEWAY, token: '' } }, /^`gateway\.token` is missing/],
  [{ gateway: { ...GATEWAY, token: 'two\nlines' } }, /^`gateway\.token` has characters/],
  [
    { gateway: { ...GATEWAY, key: 'secret' } },
    /^There is no option `gateway\.key`; there are `gateway\.url`, `gateway\.token`\.$/,
  ],
  [
    { onfault: () => undefined },
    /^There is no option `onfault`; there are `database`, .*`onFault`, `onRetry`, `name`\.$/,
  ],
  [{ onFault: undefined }, /^`onFault` must be a function/],
];

test.each(MISTAKES)('%j is refused at once', (wrong, sentence) => {
  const given = { database: {}, gateway: GATEWAY, sources: [], onFault: () => undefined, ...wrong };
  const open = (): unknown => sync(given as unknown as SyncOptions);
  expect(open).toThrow(TypeError);
  expect(open).toThrow(sentence);
});
