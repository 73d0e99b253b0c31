/**
 * The smallest amounts that Stripe charges, in minor units (docs.stripe.com/currencies,
 * "Minimum and maximum charge amounts"). Other currencies depend on the account's settlement.
 */
const MINIMUM: Readonly<Record<string, number>> = {
  usd: 50,
  aed: 200,
  aud: 50,
  bgn: 100,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1_500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  inr: 50,
  jpy: 50,
  mxn: 1_000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1_000,
}

/** Returns 0 for a difference that cannot be charged: the buyer gets the upgrade without it. */
export function waiveSmallAmount(cents: number, currency: string): number {
  return cents < (MINIMUM[currency] ?? 0) ? 0 : cents
}
