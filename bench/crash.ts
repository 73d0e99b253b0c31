// kill -9 in the middle of a customer's walk, restart, look: every acknowledged write is there, every mail arrived once.
import { crashRounds } from './crash/rounds.ts'
import { printTable } from './lib/table.ts'

export const description =
  'kill -9 at 20 random moments of the main path: what was acknowledged must be there, once'

export async function run([count = '20']: string[]): Promise<void> {
  const rounds = await crashRounds(Number(count))
  printTable(
    `${rounds.length} kills`,
    ['killed after', 'acknowledged by then', 'restart', 'wrong afterwards'],
    rounds.map((round) => [
      `${round.killedAfterMs} ms`,
      round.acknowledged,
      `${round.restartMs} ms`,
      round.wrong.join('; ') || 'nothing',
    ]),
  )
  const broken = rounds.filter((round) => round.wrong.length > 0).length
  console.log(
    `\n  ${broken === 0 ? 'Nothing was lost and nothing came twice.' : `${broken} rounds are BROKEN`}`,
  )
}
