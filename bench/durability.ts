// Checks that no call is lost or recorded twice when the service is killed during it, and that a
// budget holds under many calls at once. Covers all three APIs, streamed and whole, passed on and
// translated. Checks limits, not speed.
import { spendAtOnce } from './durability/budget.ts'
import { type Killed, killRounds } from './durability/kills.ts'
import { APIS, startVendor } from './ledger/calls.ts'
import { printTable } from './lib/table.ts'

export const description =
  'kill -9 during calls of all APIs, each compared with the vendor’s record; and 1,000 calls at once on a budget in dollars'

const ALIVE_MS = 4_000

/** `npm run bench -- durability [KILLS] [CALLS]` */
export async function run([kills = '5', calls = '1000']: string[]): Promise<void> {
  const vendor = await startVendor()
  try {
    const { killed, last: spent } = await killRounds(vendor, Number(kills), ALIVE_MS, (service) =>
      spendAtOnce(service, vendor, Number(calls)),
    )
    printTable(
      `${kills} kills, each ${ALIVE_MS} ms after 40 concurrent calls; restarted in ${killed.restartMs.join(', ')} ms`,
      [
        'API',
        'calls',
        'whole',
        'failed',
        'killed: recorded',
        'killed: too recent to record',
        'killed: vendor not called',
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
        ? `\n  ${wrong.length} results are WRONG`
        : '\n  No call was lost or recorded twice, no reservation remained, and no budget was overspent or refused wrongly.',
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
