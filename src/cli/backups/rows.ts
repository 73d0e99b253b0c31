/**
 * Tables as both engines have them: rows of texts, in one form for a kind of value, so that a copy can be held against its origin
 * whatever the engines are. A checksum is the sum of its rows' hashes: no order is asked, and none has to be kept.
 */
import { hash } from 'node:crypto'
import { storable } from '#platform/db/postgres.ts'

/** Null, or as PostgreSQL casts to text: `true`, digits, hex of bytes; instants with microseconds, in UTC. */
export type Row = (string | null)[]

export type Table = { name: string; columns: string[] }

/** What a database held at one moment. */
export type Snapshot = {
  tables(): Promise<Table[]>
  /** In some order, which is not told. */
  rows(table: Table): AsyncIterable<Row>
}

/** All rows of a small table, by their columns' names. */
export async function recordsOf(
  snapshot: Snapshot,
  name: string,
): Promise<Record<string, string | null>[]> {
  const table = (await snapshot.tables()).find((one) => one.name === name)
  if (!table) throw new Error(`there is no table ${name}: this is no database of Latchkey`)
  const records: Record<string, string | null>[] = []
  for await (const row of snapshot.rows(table)) {
    records.push(Object.fromEntries(table.columns.map((column, at) => [column, row[at] ?? null])))
  }
  return records
}

export type Sum = { rows: number; checksum: string }
export type Sums = Record<string, Sum>

export async function sumsOf(snapshot: Snapshot): Promise<Sums> {
  const sums: Sums = {}
  for (const table of await snapshot.tables()) {
    const summing = sumOfTable(table.columns)
    for await (const row of snapshot.rows(table)) summing.add(row)
    sums[table.name] = summing.sum()
  }
  return sums
}

/** Adds 256-bit hashes: a row that is missing, changed, or there twice changes the sum. */
export function sumOfTable(columns: readonly string[]) {
  const order = columns
    .map((_, at) => at)
    .sort((a, b) => ((columns[a] ?? '') < (columns[b] ?? '') ? -1 : 1))
  const isJson = columns.map((name) => name.endsWith('_json'))
  let rows = 0
  let total = BigInt(`0x${hash('sha256', JSON.stringify(order.map((at) => columns[at])), 'hex')}`)
  return {
    add(row: Row) {
      rows++
      const values = order.map((at) => comparable(row[at] ?? null, isJson[at] ?? false))
      total += BigInt(`0x${hash('sha256', JSON.stringify(values), 'hex')}`)
    },
    sum: (): Sum => ({ rows, checksum: (total & MASK).toString(16).padStart(64, '0') }),
  }
}

const MASK = (1n << 256n) - 1n

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,6}))?Z$/

/** The same text for what is the same value, on whichever engine it was stored. */
function comparable(text: string | null, isJson: boolean): string | null {
  if (text === null) return null
  if (isJson) return JSON.stringify(sorted(JSON.parse(text)))
  const digits = INSTANT.exec(text)
  if (digits) return `${text.slice(0, 19)}.${(digits[1] ?? '').padEnd(6, '0')}Z`
  return storable(text)
}

/** PostgreSQL's jsonb has an order of keys of its own. */
function sorted(value: unknown): unknown {
  if (typeof value === 'string') return storable(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  const pairs = Object.entries(value).map(([key, inner]) => [storable(key), sorted(inner)] as const)
  return { '': pairs.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

/** What differs, a sentence each; empty where both are the same. */
export function differences(wanted: Sums, found: Sums, leaveOut: readonly string[] = []): string[] {
  const names = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].filter(
    (name) => !leaveOut.includes(name),
  )
  return names.sort().flatMap((name) => {
    const [was, is] = [wanted[name], found[name]]
    if (!was) return is?.rows === 0 ? [] : [`${name} was not there before`]
    if (!is) return [`${name} is missing`]
    if (was.rows !== is.rows) return [`${name} has ${is.rows} rows instead of ${was.rows}`]
    return was.checksum === is.checksum
      ? []
      : [`${name} has other rows than it had (${was.rows}, as before)`]
  })
}
