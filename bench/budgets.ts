// Checks that a plan's budget holds against a thousand keys of one user at once, on SQLite and on
// three nodes with one PostgreSQL, one of which is killed during its calls. Compares the cost of a
// reservation with a bare conditional update of one row, in turn. Target: 0.5 of the bare rate.
import { type Attacked, attack } from './budgets/attack.ts'
import { measureReservations } from './budgets/reservations.ts'
import { startVendor } from './ledger/calls.ts'
import { printTable } from './lib/table.ts'

export const description =
  'one user’s budget against 1,000 keys at once, and reservations compared with conditional updates; PostgreSQL at TEST_DATABASE_URL'

const TARGET = 0.5

/** `npm run bench -- budgets [attack|reservations] [KEYS]` */
export async function run([what = 'both', keys = '1000']: string[]): Promise<void> {
  const server = process.env.TEST_DATABASE_URL ?? null
  const engine = server === null ? 'SQLite' : 'PostgreSQL'
  if (what !== 'attack') tellReservations(engine, await measureReservations(server))
  if (what === 'reservations') return
  const vendor = await startVendor()
  try {
    tellAttack(engine, Number(keys), await attack(vendor, Number(keys), server === null ? 1 : 3))
  } finally {
    vendor.stop()
  }
}

function tellReservations(
  engine: string,
  shapes: Awaited<ReturnType<typeof measureReservations>>,
): void {
  printTable(
    `${engine}: reservations compared with conditional updates of as many rows; medians of alternating rounds`,
    ['', 'updates/s', 'CPU ms', 'reservations/s', 'CPU ms', 'ratio'],
    shapes.map(({ name, bare, ledger, ratio }) => [
      name,
      Math.round(bare.aSecond),
      bare.cpuMs.toFixed(3),
      Math.round(ledger.aSecond),
      ledger.cpuMs.toFixed(3),
      ratio.toFixed(2),
    ]),
  )
  const least = Math.min(...shapes.map(({ ratio }) => ratio))
  if (least < TARGET) process.exitCode = 1
  console.log(
    `\n  Ratio: ${least.toFixed(2)} (target: ${TARGET}) ${least >= TARGET ? 'ok' : 'FAILED'}`,
  )
}

function tellAttack(engine: string, keys: number, told: Attacked): void {
  const usd = (amount: number) => `$${amount.toFixed(9)}`
  printTable(
    `${engine}: ${keys} keys with one call each at once, on a plan of ${usd(told.limitUsd)}`,
    [
      'answered',
      'refused',
      'busy (retry later)',
      'cut',
      'used',
      'used when exhausted',
      'billed by the vendor',
      'seconds',
    ],
    [
      [
        told.answered,
        told.refused,
        told.busy,
        told.cut,
        usd(told.crowdUsd),
        usd(told.usedUsd),
        usd(told.billedUsd),
        told.seconds.toFixed(1),
      ],
    ],
  )
  for (const fault of told.wrong.slice(0, 20)) console.log(`  ${fault}`)
  if (told.wrong.length > 0) process.exitCode = 1
  const unseenUsd = told.billedUsd - told.usedUsd
  if (unseenUsd > 1e-9)
    console.log(`\n  Billed for calls that the killed node had not recorded yet: ${usd(unseenUsd)}`)
  console.log(
    told.wrong.length > 0
      ? `\n  ${told.wrong.length} results are WRONG`
      : '\n  The ledger never exceeded the budget, and no call was refused wrongly.',
  )
}
