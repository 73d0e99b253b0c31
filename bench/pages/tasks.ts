// Measures the tasks of the page's main thread by its CPU clock, which other programs on the
// machine do not affect.
import type { Page } from 'playwright-core'

export type Tasks = { longest: number; long: number; cpuMs: number; tasks: number }

/** The longest task that a reader does not notice. */
export const LONG_MS = 50

type TraceEvent = {
  name: string
  ph: string
  pid: number
  tid: number
  tdur?: number
  args?: { name?: string }
}

export async function measureTasks(page: Page, work: () => Promise<void>): Promise<Tasks> {
  const devtools = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) =>
    events.push(...(value as unknown as TraceEvent[])),
  )
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline'] },
  })
  await work()
  const complete = new Promise<void>((resolve) =>
    devtools.once('Tracing.tracingComplete', () => resolve()),
  )
  await devtools.send('Tracing.end')
  await complete
  await devtools.detach()

  const threads = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid}:${tid}`),
  )
  const byThread = new Map<string, number[]>()
  for (const { name, ph, pid, tid, tdur } of events) {
    const thread = `${pid}:${tid}`
    if (ph !== 'X' || tdur === undefined || !/RunTask$/.test(name) || !threads.has(thread)) continue
    const durations = byThread.get(thread) ?? []
    durations.push(tdur / 1_000)
    byThread.set(thread, durations)
  }
  const sum = (durations: number[]) => durations.reduce((total, ms) => total + ms, 0)
  // A browser has spare renderers; the busiest one is the page's.
  const busiest = [...byThread.values()].toSorted((a, b) => sum(b) - sum(a))[0] ?? []
  return {
    longest: Math.max(0, ...busiest),
    long: busiest.filter((ms) => ms > LONG_MS).length,
    cpuMs: sum(busiest),
    tasks: busiest.length,
  }
}
