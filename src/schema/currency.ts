/*
 * Currency codes of ISO 4217, list one of 2026-01-01, without precious metals, units of account and codes for tests: they have no minor
 * unit, so no amount can be written. Not from graphql-scalars, whose list lacks two and has six that were withdrawn, and whose loading
 * takes half the time of `scopegate --help`.
 */

const CODES = new Set(
  `
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE
  CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF
  GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR
  LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN
  PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
  TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAD XAF XCD XCG XOF XPF YER
  ZAR ZMW ZWG
`
    .trim()
    .split(/\s+/),
);

/** Names of every code that was ever in use, including the German mark. Created when first needed, since that takes 25 ms. */
let names: Intl.DisplayNames | undefined;

/** Whether a code is in use and has a minor unit, as required of the currency of a price. */
export function isCurrency(code: string): boolean {
  return CODES.has(code);
}

/**
 * Whether a code is or was in use, since sales from before the euro keep their currency. Metals and codes for tests (XAU, XTS) pass, too: Intl
 * does not tell them from withdrawn currencies.
 */
export function wasCurrency(code: string): boolean {
  if (isCurrency(code)) return true;
  names ??= new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });
  return /^[A-Z]{3}$/.test(code) && names.of(code) !== undefined;
}
