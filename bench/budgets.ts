// Whether a plan's dollars hold against a thousand keys of one user at once, on SQLite and over three nodes on one PostgreSQL, of which one
// is killed under its calls; and what a reservation costs beside a bare conditional update of one row, in turn. Wanted of these: 0.5.
import { type Attacked, attack } from './budgets/attack.ts'
import { measureReservations } from './budgets/reservations.ts'
import { startVendor } from './ledger/calls.ts'
import { printTable } from './lib/table.ts'

export const description =
  'one user’s budget against 1,000 keys at once, and reservations beside bare conditional updates; PostgreSQL at TEST_DATABASE_URL'

const WANTED = 0.5

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
    `${engine}: reservations, and bare conditional updates of as many rows; medians of rounds in turn`,
    ['', 'bare a second', 'ms of CPU', 'reservations a second', 'ms of CPU', 'of bare'],
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
  if (least < WANTED) process.exitCode = 1
  console.log(
    `\n  Ratio: ${least.toFixed(2)} (wanted: ${WANTED}) ${least >= WANTED ? 'holds' : 'BROKEN'}`,
  )
}

function tellAttack(engine: string, keys: number, told: Attacked): void {
  const usd = (amount: number) => `$${amount.toFixed(9)}`
  printTable(
    `${engine}: one call of each of ${keys} keys at once, on a plan of ${usd(told.limitUsd)}`,
    [
      'answered',
      'refused',
      'told to come again',
      'cut',
      'used',
      'and to the end',
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
    console.log(`\n  Billed for calls that a killed node had not noted yet: ${usd(unseenUsd)}`)
  console.log(
    told.wrong.length > 0
      ? `\n  ${told.wrong.length} are WRONG`
      : '\n  The ledger is never over, and none was refused falsely.',
  )
}
