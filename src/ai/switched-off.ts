// Which routes the operator has switched off. A model is meant by any name of its: as it is asked for, without the date behind it, as
// the catalogue calls it, in whichever case.

import type { Config } from '#config/config.ts'
import {
  covers,
  findKnownModel,
  type Route,
  readAllowances,
  removeDate,
} from '#models/catalogue.ts'
import type { LiveSwitches } from '#switches/live.ts'

/** Why a route is off; null: it is on. */
export type SwitchedOff = (route: Route) => { kind: 'model' | 'vendor'; reason: string } | null

export function createSwitchCheck(
  ai: Config['ai'],
  live: Pick<LiveSwitches, 'reasonFor' | 'models'>,
): SwitchedOff {
  /** By the list that it was made of: patterns and all names in small letters beside those as they were written. */
  let compiled: {
    from: readonly string[]
    words: { switched: string; list: readonly string[] }[]
  } = { from: [], words: [] }
  const readReason = (from: readonly string[]) => {
    if (compiled.from !== from) {
      compiled = {
        from,
        words: from.map((switched) => ({ switched, list: [switched, switched.toLowerCase()] })),
      }
    }
    return compiled.words
  }

  return ({ vendor, model }) => {
    const vendorReason = live.reasonFor('vendor', vendor)
    if (vendorReason !== undefined) return { kind: 'vendor', reason: vendorReason }
    const off = live.models()
    if (off.length === 0) return null
    const known = findKnownModel(ai, vendor, model)?.id
    const names = [model, removeDate(model), ...(known === undefined ? [] : [known])]
    const all = [...names, ...names.map((name) => name.toLowerCase())]
    for (const { switched, list } of readReason(off)) {
      if (readAllowances(ai, list).some((one) => covers(one, vendor, all))) {
        return { kind: 'model', reason: live.reasonFor('model', switched) ?? '' }
      }
    }
    return null
  }
}
