/**
 * Reports to everyone which parts work now. Uses the checks of the health endpoints and existing
 * rows, and names no users, amounts of traffic or errors.
 */
import type { Gateway } from '#ai/gateway.ts'
import { listVendorsBySlot } from '#ai/routing.ts'
import type { Part as ServicePart, VendorConfig } from '#config/config.ts'
import { type Instant, MINUTE_MS, SECOND_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import { within } from '#platform/readiness.ts'
import { listPartOutages, type PartOutage } from '#platform/uptime/part-outages.ts'
import { listSwitches, type Switch } from '#switches/set.ts'
import { listOutages, type Outage } from '#usage/outages.ts'

export type State = 'works' | 'limited' | 'down' | 'paused' | 'unknown'
export type Part = { name: 'app' | 'changes' | 'email' | 'payments'; state: State }
/**
 * A model or vendor that the operator has switched off, an outage of a vendor, or a time in which
 * parts of the service did not run.
 */
export type Incident =
  | { kind: 'paused'; what: string; from: Instant }
  | { kind: 'outage'; what: string; from: Instant; until: Instant | null; failedShare: number }
  | { kind: 'stopped'; parts: readonly ServicePart[]; from: Instant; until: Instant | null }
export type Status = {
  at: Instant
  parts: readonly Part[]
  vendors: readonly { label: string; state: State }[]
  incidents: readonly Incident[]
}

export type StatusDeps = Pick<Platform, 'config' | 'db' | 'clock' | 'jobs' | 'readiness'> & {
  gateway: Pick<Gateway, 'config' | 'endpoints'>
}

const FRESH_MS = 15 * SECOND_MS
const PATIENCE_MS = SECOND_MS
/** A vendor that fails more of its calls counts as down. */
const DOWN_SHARE = 0.9
/** Jobs of these lanes start at once, so a job that waits longer is late. */
const LATE_SECONDS = (5 * MINUTE_MS) / SECOND_MS

/** Reads the status at most every 15 s, however many visitors ask. */
export class LiveStatus {
  readonly #deps: StatusDeps
  #latest: Promise<Status> | null = null
  #readAtMs = 0

  constructor(deps: StatusDeps) {
    this.#deps = deps
  }

  get(): Promise<Status> {
    const nowMs = this.#deps.clock.ms()
    if (this.#latest === null || nowMs - this.#readAtMs >= FRESH_MS) {
      this.#readAtMs = nowMs
      this.#latest = readStatus(this.#deps)
    }
    return this.#latest
  }
}

async function readStatus(deps: StatusDeps): Promise<Status> {
  const { db, clock, jobs, readiness, config } = deps
  const inTime = <T>(read: Promise<T>) =>
    within<T | null>(
      PATIENCE_MS,
      read.catch(() => null),
      null,
    )
  const [database, lanes, outages, switches, stops] = await Promise.all([
    readiness.state(),
    inTime(jobs.lanes()),
    inTime(listOutages(db, clock.ms())),
    inTime(listSwitches(db)),
    inTime(listPartOutages(deps, { days: 1 })),
  ])
  const isAway = (part: ServicePart) =>
    stops?.some(({ parts, until }) => until === null && parts.includes(part)) === true
  const readLane = (lane: 'urgent' | 'events'): State => {
    if (lanes === null) return 'unknown'
    if (isAway('worker')) return 'down'
    return lanes[lane].ageSeconds > LATE_SECONDS ? 'limited' : 'works'
  }
  const vendors = listVendorsBySlot(deps.gateway.config).filter(({ apiKey }) => apiKey !== null)
  return {
    at: clock.now(),
    parts: [
      { name: 'app', state: database.isReachable && !isAway('api') ? 'works' : 'down' },
      { name: 'changes', state: database.isWritable ? 'works' : 'down' },
      { name: 'email', state: readLane('urgent') },
      ...(config.processor.secretKey === null
        ? []
        : [{ name: 'payments' as const, state: readLane('events') }]),
    ],
    vendors: vendors.map((vendor) => ({
      label: vendor.label,
      state: readVendorState(deps.gateway, vendor, outages),
    })),
    incidents: listIncidents({
      vendors,
      outages: outages ?? [],
      switches: switches ?? [],
      stops: stops ?? [],
    }),
  }
}

function readVendorState(
  { config, endpoints }: StatusDeps['gateway'],
  { name, defaultModel }: VendorConfig,
  outages: readonly Outage[] | null,
): State {
  if (config.switchedOff?.({ vendor: name, model: defaultModel })?.kind === 'vendor')
    return 'paused'
  const open = (endpoints[name] ?? []).map(({ breaker }) => breaker.state === 'open')
  if (open.length > 0 && open.every(Boolean)) return 'down'
  if (outages === null) return 'unknown'
  const lasting = outages.find(({ vendor, until }) => vendor === name && until === null)
  if (lasting && lasting.failedShare > DOWN_SHARE) return 'down'
  return lasting || open.some(Boolean) ? 'limited' : 'works'
}

type Causes = {
  vendors: readonly VendorConfig[]
  outages: readonly Outage[]
  switches: readonly Switch[]
  stops: readonly PartOutage[]
}

function listIncidents({ vendors, outages, switches, stops }: Causes): Incident[] {
  const labels = new Map(vendors.map(({ name, label }) => [name, label]))
  const paused = switches.flatMap(({ kind, subject, set_at: from }): Incident[] => {
    if (kind === 'model') return [{ kind: 'paused', what: subject, from }]
    const what = kind === 'vendor' ? labels.get(subject) : undefined
    return what === undefined ? [] : [{ kind: 'paused', what, from }]
  })
  const failed = outages.flatMap(({ vendor, ...outage }): Incident[] => {
    const what = labels.get(vendor)
    return what === undefined ? [] : [{ kind: 'outage', what, ...outage }]
  })
  const stopped = stops.map((stop): Incident => ({ kind: 'stopped', ...stop }))
  return [...paused, ...failed, ...stopped].sort((a, b) => (a.from < b.from ? 1 : -1))
}
