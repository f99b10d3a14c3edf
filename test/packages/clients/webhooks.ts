import { randomBytes } from 'node:crypto';
import { secretFrom, secretText } from '../../../src/auth/webhookSecrets';
import { signedHeaders } from '../../../src/webhooks/signing';
import { calling, type Language } from './calling';

/* Which webhooks a client accepts. */

export function webhooks(language: Language): void {
  describe('a webhook', () => {
    const secret = secretText(randomBytes(24));
    const old = secretText(randomBytes(24));
    const body = JSON.stringify({ id: 'a', type: 'order.created', note: 'zwölf' });
    let now: number;
    beforeEach(() => {
      now = Math.floor(Date.now() / 1000);
    });
    const signed = ({ id = 'a', timestamp = now, of = body, by = [secret] } = {}): Record<string, string> =>
      signedHeaders(
        { id, timestamp, body: of },
        by.map((one) => secretFrom(one)!),
      );

    test('that is signed is accepted, also while either side is replacing the secret', async () => {
      const upper = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]));
      const outcomes = await calling(
        language,
        {},
        [
          { headers: signed(), secret },
          { headers: upper, secret },
          { headers: signed({ by: [old, secret] }), secret },
          { headers: signed(), secret: [old, secret] },
          { headers: signed({ timestamp: now - 200 }), secret },
        ].map((one) => ({ do: 'verify', body, ...one })),
      );
      for (const { result } of outcomes) expect(result).toEqual(JSON.parse(body));
    });

    test('is refused if it is forged, altered, too old, from the future, or an old signature with a new time or id', async () => {
      const stale = signed({ timestamp: now - 400 });
      const refused: Record<string, string>[] = [
        signed({ by: [old] }),
        signed({ of: `${body} ` }),
        stale,
        signed({ timestamp: now + 400 }),
        { ...stale, 'webhook-timestamp': String(now) },
        { ...signed(), 'webhook-id': 'b' },
        { ...signed(), 'webhook-timestamp': 'today' },
        ...['', 'v1', 'v1,', 'v1,x', 'v1,ü', signed()['webhook-signature']!.replace('v1,', 'v2,')].map((signature) => ({
          ...signed(),
          'webhook-signature': signature,
        })),
        ...Object.keys(signed()).map((name) => ({ ...signed(), [name]: '' })),
        ...Object.keys(signed()).map((name) => ({ ...signed(), [name]: '\ud800' })),
        { ...signed(), 'webhook-signature': 'v1,\ud800' },
        {},
      ];
      const outcomes = await calling(
        language,
        {},
        refused.map((headers) => ({ do: 'verify', body, headers, secret })),
      );
      expect(outcomes.map(({ error }) => error?.name as unknown)).toEqual(
        refused.map(() => 'WebhookVerificationError'),
      );
    });

    test('of any age is refused if the tolerance is not a number', async () => {
      const outcomes = await calling(
        language,
        {},
        [
          ['NaN', 0],
          ['NaN', 400],
          ['1000', 2000],
          ['1000', 0],
          ['3000', 2000],
        ].map(([tolerance, age]) => {
          return { do: 'verify', body, headers: signed({ timestamp: now - Number(age) }), secret, tolerance };
        }),
      );
      const refused = 'WebhookVerificationError';
      const names = outcomes.map(({ error }) => error?.name as unknown);
      expect(names).toEqual([refused, refused, refused, undefined, undefined]);
    });

    test('is not verified with a malformed secret', async () => {
      const outcomes = await calling(
        language,
        {},
        ['', 'whsec_', 'whsec_…', secret.slice(6)].map((none) => ({
          do: 'verify',
          body,
          headers: signed(),
          secret: none,
        })),
      );
      for (const { error } of outcomes) expect(error.message).toBe('A webhook secret is whsec_ followed by base64.');
    });
  });
}
