/**
 * The service's own metrics: one Prometheus registry per service, so that tests can run several.
 */
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]

  let isCollecting = false
  return {
    registry,
    /**
     * Starts the process metrics. They sample on timers, so they start with the first scrape of
     * either server.
     */
    collectDefaults() {
      if (!isCollecting) collectDefaultMetrics({ register: registry })
      isCollecting = true
    },
    requests: requestTimes(registers),
    refusals: counts(registers, 'latchkey_refusals_total', 'Replies that refused, by their code', [
      'code',
      'status',
    ]),
    jobs: new Gauge({
      name: 'latchkey_jobs',
      help: 'Jobs that wait and jobs that gave up',
      labelNames: ['status'],
      registers,
    }),
    jobsDue: new Gauge({
      name: 'latchkey_jobs_due',
      help: 'Jobs that are due and do not run yet, by lane',
      labelNames: ['lane'],
      registers,
    }),
    jobAge: new Gauge({
      name: 'latchkey_job_age_seconds',
      help: 'How long the oldest job that is due has waited for its turn, by lane',
      labelNames: ['lane'],
      registers,
    }),
    diskFree: new Gauge({
      name: 'latchkey_disk_free_bytes',
      help: 'Room left on the disk of the data folder',
      registers,
    }),
    neighbours: new Gauge({
      name: 'latchkey_neighbour_up',
      help: '1: it answers this process; 0: it does not',
      labelNames: ['neighbour'],
      registers,
    }),
    clockSkew: new Gauge({
      name: 'latchkey_clock_skew_seconds',
      help: 'How far the clock of this machine is ahead of the database’s',
      registers,
    }),
    /** Creates a counter. Returns a function from label values to a line. */
    counts: (name: string, help: string, labelNames: string[]) =>
      counts(registers, name, help, labelNames),
    /**
     * Creates a histogram. Returns a function from label values to a line. `limits` are in seconds.
     */
    times: (name: string, help: string, labelNames: string[], limits: number[]) =>
      times(registers, name, help, labelNames, limits),
    readings: (name: string, help: string, read: Read) => readings(registers, name, help, read),
  }
}

/** One line of a counter: add to `value`. */
export type Count = { value: number }
/** One line of a histogram. */
export type Times = { observe(seconds: number): void }
type Labels = Record<string, string | number>
type Reading = { labels: Labels; value: number }
type Read = () => Reading[] | Promise<Reading[]>

/**
 * Counters and histograms without hashing labels per event, which in prom-client takes a tenth of a
 * small request's time. Callers look up a line once and reuse it. Totals are computed when they are
 * read.
 */
function lines<L extends object>(
  registers: Registry[],
  head: Head,
  labelNames: string[],
  shape: Shape<L>,
) {
  const known = new Map<string, { labels: Labels; line: L }>()
  const metric = {
    ...head,
    reset: () => known.clear(),
    get: async () => ({
      ...metric,
      values: [...known.values()].flatMap(({ labels, line }) => shape.values(labels, line)),
    }),
  }
  for (const registry of registers) registry.registerMetric(metric as never)

  return (...values: (string | number)[]): L => {
    const key = values.join('\n')
    let series = known.get(key)
    if (!series) {
      const labels = Object.fromEntries(
        labelNames.map((name, index) => [name, values[index] ?? '']),
      )
      series = { labels, line: shape.open() }
      known.set(key, series)
    }
    return series.line
  }
}

type Head = { name: string; help: string; type: 'counter' | 'histogram' }
type Shape<L> = {
  open(): L
  values(labels: Labels, line: L): { metricName?: string; labels: Labels; value: number }[]
}

function counts(registers: Registry[], name: string, help: string, labelNames: string[]) {
  return lines<Count>(registers, { name, help, type: 'counter' }, labelNames, {
    open: () => ({ value: 0 }),
    values: (labels, { value }) => [{ labels, value }],
  })
}

type Histogram = Times & { readonly buckets: number[]; sum: number; count: number }

function times(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: string[],
  limits: number[],
) {
  return lines<Histogram>(registers, { name, help, type: 'histogram' }, labelNames, {
    open: () => ({
      buckets: limits.map(() => 0),
      sum: 0,
      count: 0,
      observe(seconds) {
        const bucket = limits.findIndex((limit) => seconds <= limit)
        if (bucket >= 0) this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
        this.sum += seconds
        this.count++
      },
    }),
    values(labels, { buckets, sum, count }) {
      let below = 0
      return [
        ...limits.map((le, index) => {
          below += buckets[index] ?? 0
          return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
        }),
        { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    },
  })
}

/**
 * Registers a metric that is computed when it is read. When a process has two rooms of one kind, as
 * in tests, the newer one is read.
 */
function readings(registers: Registry[], name: string, help: string, read: Read) {
  const metric = {
    name,
    help,
    type: 'gauge',
    reset() {},
    get: async () => ({ ...metric, values: await read() }),
  }
  for (const registry of registers) {
    registry.removeSingleMetric(name)
    registry.registerMetric(metric as never)
  }
}

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

/** Request durations by method, route and status. */
function requestTimes(registers: Registry[]) {
  const help = 'Time from a request to the end of its reply'
  const lineOf = times(
    registers,
    'latchkey_http_request_seconds',
    help,
    ['method', 'route', 'status'],
    SECONDS,
  )
  // Keyed by route, whose text is always the same object. A joined key would be hashed again for
  // each request.
  const routes = new Map<string, { method: string; status: number; line: Times }[]>()
  return {
    observe(method: string, route: string, status: number, seconds: number) {
      const series = routes.get(route) ?? []
      if (series.length === 0) routes.set(route, series)
      let found = series.find((other) => other.status === status && other.method === method)
      if (!found) {
        found = { method, status, line: lineOf(method, route, status) }
        series.push(found)
      }
      found.line.observe(seconds)
    },
  }
}
