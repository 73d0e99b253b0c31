// Guards the operator's numbers: one Prometheus registry per service, so that tests can run several.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]

  return {
    registry,
    /** The process's own figures; they sample on timers, so they start with the first reader. */
    collectDefaults: () => collectDefaultMetrics({ register: registry }),
    requests: requestTimes(registers),
    jobs: new Gauge({
      name: 'latchkey_jobs',
      help: 'Jobs that wait and jobs that gave up',
      labelNames: ['status'],
      registers,
    }),
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) => new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, labelNames: string[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
  }
}

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]

/**
 * Times of requests by method, route and status. A Map and nine counters: prom-client's own histogram hashes its labels
 * at every observation, which is a tenth of a small request. Summed up when somebody looks.
 */
function requestTimes(registers: Registry[]) {
  type Series = {
    labels: { method: string; route: string; status: number }
    buckets: number[]
    sum: number
    count: number
  }
  // By route, whose text is always the same object; a joined key would be hashed anew at each request.
  const routes = new Map<string, Series[]>()

  const name = 'latchkey_http_request_seconds'
  const metric = {
    name,
    help: 'Time from a request to the end of its reply',
    type: 'histogram',
    reset: () => routes.clear(),
    get: async () => ({ ...metric, values: values() }),
  }
  for (const registry of registers) registry.registerMetric(metric as never)

  return {
    observe(method: string, route: string, status: number, seconds: number) {
      const series = routes.get(route) ?? []
      if (series.length === 0) routes.set(route, series)
      let one = series.find(({ labels }) => labels.status === status && labels.method === method)
      if (!one) {
        one = { labels: { method, route, status }, buckets: SECONDS.map(() => 0), sum: 0, count: 0 }
        series.push(one)
      }
      const bucket = SECONDS.findIndex((limit) => seconds <= limit)
      if (bucket >= 0) one.buckets[bucket] = (one.buckets[bucket] ?? 0) + 1
      one.sum += seconds
      one.count++
    },
  }

  function values() {
    return [...routes.values()].flat().flatMap(({ labels, buckets, sum, count }) => {
      let below = 0
      return [
        ...SECONDS.map((le, index) => {
          below += buckets[index] ?? 0
          return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: below }
        }),
        { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: count },
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ]
    })
  }
}
