// Moving averages of the models' speed in this process: of the first token of streams, and of whole
// answers. Measures only models of aliases that choose by latency.
import type { Catalogue, Route } from '#models/catalogue.ts'
import { VendorError } from './vendors/vendor-error.ts'

export type Latencies = {
  /** Resolves as `work`, and measures it when the route is measured. */
  measure<T>(route: Route, isStream: boolean, work: Promise<T>): Promise<T>
  /** Milliseconds; null before the first measurement. */
  find(route: Route, isStream: boolean): number | null
}

/** Weight of a new measurement in the average. */
const NEW_SHARE = 0.2

type Averages = { stream: number | null; whole: number | null }

export function createLatencies(aliases: Catalogue['aliases']): Latencies {
  const measured = new Map<string, Map<string, Averages>>()
  for (const { by, routes } of aliases.values()) {
    if (by !== 'latency') continue
    for (const { vendor, model } of routes) {
      const models = measured.get(vendor) ?? new Map<string, Averages>()
      measured.set(vendor, models.set(model, models.get(model) ?? { stream: null, whole: null }))
    }
  }
  const findAverages = ({ vendor, model }: Route) => measured.get(vendor)?.get(model)

  return {
    measure(route, isStream, work) {
      const averages = measured.size === 0 ? undefined : findAverages(route)
      if (averages === undefined) return work
      const kind = isStream ? 'stream' : 'whole'
      const startedMs = performance.now()
      const record = () => {
        const ms = performance.now() - startedMs
        const before = averages[kind]
        averages[kind] = before === null ? ms : before + (ms - before) * NEW_SHARE
      }
      return work.then(
        (result) => {
          record()
          return result
        },
        (error) => {
          // An immediate failure is not a measurement of speed; a timeout counts as slow.
          if (error instanceof VendorError && error.failure === 'timeout') record()
          throw error
        },
      )
    },
    find: (route, isStream) => findAverages(route)?.[isStream ? 'stream' : 'whole'] ?? null,
  }
}
