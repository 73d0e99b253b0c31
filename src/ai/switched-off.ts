// Checks which routes the operator has switched off. A model matches by any of its names, in any
// case: the requested name, the name without its date, and the catalogue's name.

import type { Config } from '#config/config.ts'
import {
  covers,
  findKnownModel,
  type Route,
  readAllowances,
  removeDate,
} from '#models/catalogue.ts'
import type { LiveSwitches } from '#switches/live.ts'

/** Returns why a route is off; null when it is on. */
export type SwitchedOff = (route: Route) => { kind: 'model' | 'vendor'; reason: string } | null

export function createSwitchCheck(
  ai: Config['ai'],
  live: Pick<LiveSwitches, 'reasonFor' | 'models'>,
): SwitchedOff {
  /** Cached by the list. Patterns and names also match in lower case. */
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
