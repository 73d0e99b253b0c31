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
    requests: new Histogram({
      name: 'latchkey_http_request_seconds',
      help: 'Time from a request to the end of its reply',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
      registers,
    }),
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
