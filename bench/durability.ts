// Whether a call is lost or comes twice when the service is killed under it, and whether a budget holds under a crowd: at all three
// addresses, streamed and whole, passed on and translated. Limits, not speeds.
import { spendAtOnce } from './durability/budget.ts'
import { type Killed, killRounds } from './durability/kills.ts'
import { APIS, startVendor } from './ledger/calls.ts'
import { printTable } from './lib/table.ts'

export const description =
  'kill -9 under calls of all APIs, each against the vendor’s book; and 1,000 at once on a budget in dollars'

const ALIVE_MS = 4_000

/** `npm run bench -- durability [KILLS] [CALLS]` */
export async function run([kills = '5', calls = '1000']: string[]): Promise<void> {
  const vendor = await startVendor()
  try {
    const { killed, last: spent } = await killRounds(vendor, Number(kills), ALIVE_MS, (service) =>
      spendAtOnce(service, vendor, Number(calls)),
    )
    printTable(
      `${kills} kills, each ${ALIVE_MS} ms into 40 calls at once; started again in ${killed.restartMs.join(', ')} ms`,
      [
        'API',
        'calls',
        'whole',
        'told of a failure',
        'killed: recorded',
        'killed: young, unrecorded',
        'killed: not asked',
      ],
      APIS.map(({ path }) => buildRow(path, killed.calls)),
    )
    const usd = (amount: number) => `$${amount.toFixed(9)}`
    printTable(
      `${calls} calls at once on a budget of ${usd(spent.limitUsd)}`,
      ['answered', 'of these shortened', 'refused', 'used', 'billed by the vendor'],
      [[spent.answered, spent.shortened, spent.refused, usd(spent.usedUsd), usd(spent.billedUsd)]],
    )
    const wrong = [...killed.wrong, ...spent.wrong]
    for (const fault of wrong.slice(0, 20)) console.log(`  ${fault}`)
    if (wrong.length > 0) process.exitCode = 1
    console.log(
      wrong.length > 0
        ? `\n  ${wrong.length} are WRONG`
        : '\n  No call was lost, none is there twice, nothing stayed reserved, and no budget was overspent or refused falsely.',
    )
  } finally {
    vendor.stop()
  }
}

function buildRow(path: string, all: Killed[]): (string | number)[] {
  const calls = all.filter(({ api }) => api.path === path)
  const count = (is: (call: Killed) => boolean) => calls.filter(is).length
  const killed = (record: Killed['record']) =>
    count((call) => call.end === 'killed' && call.record === record)
  const ended = [count(({ end }) => end === 'whole'), count(({ end }) => end === 'failed')]
  return [path, calls.length, ...ended, killed('recorded'), killed('young'), killed('unasked')]
}
