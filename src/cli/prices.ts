// `prices` tells which price list counts; `prices update FILE` takes over a downloaded one, after it has been looked at: what changes is
// shown, and what looks wrong is refused. The service uses it from its next start on.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { type ListedPrice, type PriceListFile, WrongPriceList } from '#models/price-list.ts'
import { priceListFrom } from '#models/price-sources.ts'
import type { Context } from './context.ts'

const USAGE = `Usage: prices                     which list counts
       prices update FILE         takes over genai-prices' data.json, or models.dev's api.json
         --date YYYY-MM-DD        the day of its prices (else the file's own)
         --vendors a,b            those vendors' alone
         --to FILE                writes there (else to PRICES, or prices.json in DATA_DIR)
         --force                  though prices jump, or many are gone
         --dry-run                shows what would change, and writes nothing`

export async function run(args: string[], { config, print }: Context): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      date: { type: 'string' },
      vendors: { type: 'string' },
      to: { type: 'string' },
      force: { type: 'boolean' },
      'dry-run': { type: 'boolean' },
    },
  })
  const { prices } = config.ai
  const [verb, path, ...rest] = positionals
  if (verb === undefined) {
    print(`${prices.file().source} of ${prices.asOf}: ${sizeOf(prices.file())}`)
    print(prices.path === null ? 'as shipped' : prices.path)
    return 0
  }
  if (verb !== 'update' || path === undefined || rest.length > 0) {
    print(USAGE)
    return 2
  }

  const next = narrowed(readList(path, values.date), values.vendors)
  const changes = changesBetween(prices.file(), next)
  report(changes, print)
  print(`${next.source} of ${next.as_of}: ${sizeOf(next)}`)
  const doubts = doubtsAbout(changes, prices.file(), next)
  if (doubts.length > 0 && values.force !== true) {
    for (const doubt of doubts) print(`✖ ${doubt}`)
    print('Nothing was written. Look at them, and say --force where they are right.')
    return 1
  }
  if (values['dry-run']) return 0
  const to = values.to ?? config.ai.pricesPath
  write(to, next)
  print(`Written to ${to}: the service uses it from its next start on.`)
  if (values.to === undefined && next.as_of < prices.asOf) {
    print(`It is older than the list of ${prices.asOf}, which goes on counting unless PRICES=${to} is set.`)
  }
  return 0
}

function readList(path: string, date: string | undefined): PriceListFile {
  const day = date ?? statSync(path).mtime.toISOString().slice(0, 10)
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new WrongPriceList(`${path} is no JSON: ${(error as Error).message}`)
  }
  return priceListFrom(json, day, new Date().toISOString().slice(0, 10))
}

function narrowed(file: PriceListFile, vendors: string | undefined): PriceListFile {
  if (vendors === undefined) return file
  const wanted = vendors.split(',').map((name) => name.trim())
  const missing = wanted.filter((name) => !Object.hasOwn(file.vendors, name))
  if (missing.length > 0) throw new WrongPriceList(`the list has no vendor called ${missing.join(', ')}`)
  return { ...file, vendors: Object.fromEntries(wanted.map((name) => [name, file.vendors[name] ?? []])) }
}

const countOf = ({ vendors }: PriceListFile) => Object.values(vendors).reduce((sum, models) => sum + models.length, 0)

const sizeOf = (file: PriceListFile) => `${countOf(file)} models of ${Object.keys(file.vendors).length} vendors`

type Change = { name: string; was: ListedPrice['price'] | null; is: ListedPrice['price'] | null }

function changesBetween(before: PriceListFile, after: PriceListFile): Change[] {
  const [old, fresh] = [byName(before), byName(after)]
  return [...new Set([...old.keys(), ...fresh.keys()])].sort().flatMap((name) => {
    const [was, is] = [old.get(name) ?? null, fresh.get(name) ?? null]
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ name, was, is }]
  })
}

function byName({ vendors }: PriceListFile): Map<string, ListedPrice['price']> {
  return new Map(
    Object.entries(vendors).flatMap(([vendor, models]) =>
      models.map(({ id, price }): [string, ListedPrice['price']] => [`${vendor}/${id}`, price]),
    ),
  )
}

/** Of those that come or go so many are shown; those that change all are. */
const SHOWN_MAX = 20

function report(changes: Change[], print: Context['print']): void {
  for (const { name, was, is } of changes) {
    if (was !== null && is !== null) print(`~ ${name}  ${shortly(was)} → ${shortly(is)}`)
  }
  for (const [sign, some] of [
    ['+', changes.filter(({ was }) => was === null)],
    ['-', changes.filter(({ is }) => is === null)],
  ] as const) {
    for (const { name, was, is } of some.slice(0, SHOWN_MAX)) print(`${sign} ${name}  ${shortly(is ?? was)}`)
    if (some.length > SHOWN_MAX) print(`${sign} … and ${some.length - SHOWN_MAX} more`)
  }
}

function shortly(price: ListedPrice['price'] | null): string {
  if (price === null) return ''
  const { input, output = 0, cached, long } = price
  const parts = [`${input}/${output}`, ...(cached === undefined ? [] : [`cached ${cached}`])]
  return [...parts, ...(long === undefined ? [] : [`above ${long.above} ${long.input}/${long.output ?? 0}`])].join(', ')
}

/** A price seldom moves so far between two lists. */
const JUMP = 4
/** US dollars a million tokens; the dearest that has been asked is 600. */
const DOLLARS_MAX = 5_000

function doubtsAbout(changes: Change[], before: PriceListFile, after: PriceListFile): string[] {
  const doubts = changes.flatMap(({ name, was, is }) => {
    if (is === null) return []
    const figures = [is.input, is.output ?? 0, is.long?.input ?? 0, is.long?.output ?? 0]
    if (Math.max(...figures) > DOLLARS_MAX) return [`${name} would cost ${shortly(is)}`]
    const isJump = was !== null && (jumps(was.input, is.input) || jumps(was.output ?? 0, is.output ?? 0))
    return isJump ? [`${name} would go from ${shortly(was)} to ${shortly(is)}`] : []
  })
  const [had, has] = [countOf(before), countOf(after)]
  if (has < had / 2) doubts.push(`there would be ${has} prices instead of ${had}`)
  return doubts
}

const jumps = (was: number, is: number) => was !== is && (is > was * JUMP || is < was / JUMP)

/** One model a line, so that two lists can be compared. */
function write(path: string, { as_of, source, vendors }: PriceListFile): void {
  const lists = Object.entries(vendors).map(
    ([name, models]) => `${JSON.stringify(name)}: [\n${models.map((model) => JSON.stringify(model)).join(',\n')}\n]`,
  )
  const head = `{"as_of": ${JSON.stringify(as_of)}, "source": ${JSON.stringify(source)}, "vendors": {`
  mkdirSync(dirname(path), { recursive: true })
  // A reader finds the old list or the new one, never half of it.
  writeFileSync(`${path}.new`, `${head}\n${lists.join(',\n')}\n}}\n`)
  renameSync(`${path}.new`, path)
}
