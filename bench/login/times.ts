// Whether the time of an answer tells who has an account: wrong passwords for a known address and for unknown ones, in
// random order, one at a time, compared by Welch's t-test and by the Mann–Whitney U test. Reported, not judged: a noisy
// machine can show a difference that is not there, and hide one that is.
import { printTable, quantile } from '../table.ts'

export async function compareTimes(url: string, knownEmail: string, tries: number): Promise<void> {
  const known: number[] = []
  const unknown: number[] = []
  for (let index = 0; index < tries; index++) {
    const isKnown = known.length >= tries / 2 ? false : unknown.length >= tries / 2 ? true : Math.random() < 0.5
    const email = isKnown ? knownEmail : `nobody-${index}@example.com`
    const startedMs = performance.now()
    const reply = await fetch(`${url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password: 'a wrong password' }),
    })
    await reply.arrayBuffer()
    if (reply.status !== 401) throw new Error(`a wrong password was answered with ${reply.status}`)
    const samples = isKnown ? known : unknown
    samples.push(performance.now() - startedMs)
  }

  const row = (name: string, samples: number[]) => {
    const sorted = samples.toSorted((a, b) => a - b)
    return [
      name,
      samples.length,
      quantile(sorted, 0.5).toFixed(3),
      mean(samples).toFixed(3),
      quantile(sorted, 0.99).toFixed(3),
    ]
  }
  printTable(
    `Wrong passwords, ${tries} tries one at a time`,
    ['address', 'tries', 'median ms', 'mean ms', 'p99 ms'],
    [row('known', known), row('unknown', unknown)],
  )
  const t = welch(known, unknown)
  const z = mannWhitney(known, unknown)
  console.log(
    `\n  Welch's t = ${t.toFixed(2)}, Mann–Whitney z = ${z.toFixed(2)}; beyond ±1.96 is rarer than 5 % by chance`,
  )
}

function welch(a: number[], b: number[]): number {
  return (mean(a) - mean(b)) / Math.sqrt(variance(a) / a.length + variance(b) / b.length)
}

/** The normal approximation; times hardly ever tie. */
function mannWhitney(a: number[], b: number[]): number {
  const all = [...a.map((value) => ({ value, first: true })), ...b.map((value) => ({ value, first: false }))]
  all.sort((left, right) => left.value - right.value)
  const rankSum = all.reduce((sum, { first }, index) => sum + (first ? index + 1 : 0), 0)
  const u = rankSum - (a.length * (a.length + 1)) / 2
  const deviation = Math.sqrt((a.length * b.length * (a.length + b.length + 1)) / 12)
  return (u - (a.length * b.length) / 2) / deviation
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function variance(values: number[]): number {
  const center = mean(values)
  return values.reduce((sum, value) => sum + (value - center) ** 2, 0) / (values.length - 1)
}
