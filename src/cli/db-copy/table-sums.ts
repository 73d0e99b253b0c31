/**
 * Rows as texts in one form for both engines, and checksums of tables, so that a copy on
 * PostgreSQL can be compared with its source on SQLite. The order of rows never matters.
 */
import { hash } from 'node:crypto'
import { storable } from '#platform/db/postgres.ts'

/**
 * Values as PostgreSQL casts them to text: `true`, digits, hex; instants in UTC with microseconds.
 */
export type Row = (string | null)[]

export type Table = { name: string; columns: string[] }

/** The content of a database at one moment. */
export type Snapshot = {
  tables(): Promise<Table[]>
  rows(table: Table): AsyncIterable<Row>
}

/** Returns all rows of a small table as records by column. */
export async function readRecords(
  snapshot: Snapshot,
  name: string,
): Promise<Record<string, string | null>[]> {
  const table = (await snapshot.tables()).find((candidate) => candidate.name === name)
  if (!table) throw new Error(`there is no table ${name}: this is not a database of Latchkey`)
  const records: Record<string, string | null>[] = []
  for await (const row of snapshot.rows(table)) {
    records.push(Object.fromEntries(table.columns.map((column, at) => [column, row[at] ?? null])))
  }
  return records
}

export type Sum = { rows: number; checksum: string }
export type Sums = Record<string, Sum>

export async function computeSums(snapshot: Snapshot): Promise<Sums> {
  const sums: Sums = {}
  for (const table of await snapshot.tables()) {
    const checksum = new TableChecksum(table.columns)
    for await (const row of snapshot.rows(table)) checksum.add(row)
    sums[table.name] = checksum.sum()
  }
  return sums
}

const MASK = (1n << 256n) - 1n

/**
 * Adds the SHA-256 of each row, modulo 2^256: a missing, changed or doubled row changes the sum.
 */
export class TableChecksum {
  readonly #order: number[]
  readonly #isJson: boolean[]
  #rows = 0
  #total: bigint

  constructor(columns: readonly string[]) {
    const readName = (at: number) => columns[at] ?? ''
    this.#order = columns.map((_, at) => at).sort((a, b) => (readName(a) < readName(b) ? -1 : 1))
    this.#isJson = columns.map((name) => name.endsWith('_json'))
    this.#total = hashValues(this.#order.map(readName))
  }

  add(row: Row): void {
    this.#rows++
    this.#total += hashValues(
      this.#order.map((at) => toComparable(row[at] ?? null, this.#isJson[at] ?? false)),
    )
  }

  sum(): Sum {
    return { rows: this.#rows, checksum: (this.#total & MASK).toString(16).padStart(64, '0') }
  }
}

const hashValues = (values: Row) => BigInt(`0x${hash('sha256', JSON.stringify(values), 'hex')}`)

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d{1,6}))?Z$/

/** Returns the same text for the same value on both engines. */
function toComparable(text: string | null, isJson: boolean): string | null {
  if (text === null) return null
  if (isJson) return JSON.stringify(sortKeys(JSON.parse(text)))
  const instant = INSTANT.exec(text)
  if (instant) return `${text.slice(0, 19)}.${(instant[1] ?? '').padEnd(6, '0')}Z`
  return storable(text)
}

/** Sorts keys because jsonb stores them in a different order. */
function sortKeys(value: unknown): unknown {
  if (typeof value === 'string') return storable(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortKeys)
  const pairs = Object.entries(value).map(([key, inner]) => {
    return [storable(key), sortKeys(inner)] as const
  })
  return { '': pairs.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

/** Returns a sentence for each table that differs. */
export function describeDifferences(expected: Sums, actual: Sums): string[] {
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...names].sort().flatMap((name) => {
    const [before, now] = [expected[name], actual[name]]
    if (!before) return now?.rows === 0 ? [] : [`${name} is an unexpected table`]
    if (!now) return [`${name} is missing`]
    if (before.rows !== now.rows) return [`${name} has ${now.rows} rows instead of ${before.rows}`]
    if (before.checksum === now.checksum) return []
    return [`${name} has ${now.rows} rows as expected, but their content differs`]
  })
}
