// What a call costs in US dollars, by the price list of models.ts; what is not on it costs too much rather than nothing.
import { costUsd, findModel, MODELS, type Model } from './models.ts'
import type { Usage } from './vendors/vendor.ts'

export type Cost = {
  usd: number
  /** False: none of the names has a price, and the vendor's dearest was taken. */
  isListed: boolean
}

/** Played on this machine, it costs nothing. */
export const LOCAL_VENDOR = 'local'

/**
 * What `usage` costs at the first of `names` that the price list knows: what the vendor called its model, then what it was
 * asked for. A name that nobody knows costs what the vendor's dearest model of its kind would: too much rather than nothing.
 */
export function costOf(vendor: string, names: string[], usage: Usage, kind: Model['kind'] = 'chat'): Cost {
  for (const name of names) if (findModel(name) !== null) return { usd: costUsd(name, usage), isListed: true }
  if (vendor === LOCAL_VENDOR) return { usd: 0, isListed: true }
  return { usd: dearest(vendor, usage, kind), isListed: false }
}

function dearest(vendor: string, usage: Usage, kind: Model['kind']): number {
  let most = 0
  for (const model of MODELS) {
    if (model.vendor === vendor && model.kind === kind) most = Math.max(most, costUsd(model.id, usage))
  }
  return most
}

/** The price that a model without one is counted at: the dearest of its vendor's, part by part. */
export function dearestPrice(vendor: string, kind: Model['kind'] = 'chat') {
  const prices = MODELS.filter((model) => model.vendor === vendor && model.kind === kind).map(({ price }) => price)
  const most = (part: 'input' | 'output' | 'cached') => Math.max(0, ...prices.map((price) => price[part]))
  return { input: most('input'), output: most('output'), cached: most('cached') }
}
