// Kills the service with kill -9 during a customer's walk and restarts it. Every acknowledged write
// must be stored, and every mail must have arrived once.
import { crashRounds } from './crash/rounds.ts'
import { printTable } from './lib/table.ts'

export const description =
  'kill -9 at 20 random moments of a customer’s walk: every acknowledged write is stored exactly once'

export async function run([count = '20']: string[]): Promise<void> {
  const rounds = await crashRounds(Number(count))
  printTable(
    `${rounds.length} kills`,
    ['killed after', 'acknowledged', 'restart', 'faults'],
    rounds.map((round) => [
      `${round.killedAfterMs} ms`,
      round.acknowledged,
      `${round.restartMs} ms`,
      round.wrong.join('; ') || 'none',
    ]),
  )
  const broken = rounds.filter((round) => round.wrong.length > 0).length
  console.log(
    `\n  ${broken === 0 ? 'No write was lost or duplicated.' : `${broken} rounds FAILED`}`,
  )
}
