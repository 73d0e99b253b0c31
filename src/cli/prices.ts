// `prices` shows the price list in use. `prices update FILE` shows the changes of a downloaded list
// and installs it, unless a price looks wrong. The service uses it from its next start.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { priceFilesFromProcess } from '#config/config.ts'
import { MEDIA } from '#models/catalogue.ts'
import {
  type ListedPrice,
  openShippedList,
  type PriceFiles,
  type PriceList,
  type PriceListFile,
  readPriceList,
  readRate,
  WrongPriceList,
} from '#models/price-list.ts'
import { convertPriceList } from '#models/price-sources.ts'
import { DAY_MS } from '#platform/clock.ts'
import type { Context } from './context.ts'

export const USAGE = `Usage: prices                     shows the price list in use
       prices update FILE         installs genai-prices' data.json or models.dev's api.json
         --date YYYY-MM-DD        the date of the prices (default: the date of the file)
         --vendors a,b            replaces the prices of these vendors only
         --to FILE                the file to write (default: PRICES, or prices.json in DATA_DIR)
         --force                  writes despite price jumps, many missing prices or a future date
         --dry-run                shows the changes and writes nothing`

/** Reads only the setting PRICES, because it repairs lists that prevent a start. */
export async function run(
  args: string[],
  { print }: Pick<Context, 'print'>,
  files = priceFilesFromProcess(),
): Promise<number> {
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
  const [verb, path, ...rest] = positionals
  const isUpdate = verb === 'update' && path !== undefined && rest.length === 0
  if (verb !== undefined && !isUpdate) {
    print(USAGE)
    return 2
  }
  const { list: used, fault } = readUsedList(files)
  if (fault !== null) print(`✖ ${fault}. The service does not start with it.`)
  if (path === undefined) {
    if (fault !== null) return 1
    print(`${used.file().source} of ${used.asOf}: ${describeSize(used.file())}`)
    print(Object.keys(used.file().vendors).sort().join(', '))
    print(used.path === null ? 'as shipped' : used.path)
    return 0
  }

  if (fault !== null) print('Comparing with the shipped list instead.')
  const today = new Date().toISOString().slice(0, 10)
  const before = used.file()
  const vendors = values.vendors?.split(',').map((name) => name.trim())
  const downloaded = readList(path, values.date, today)
  const next = vendors === undefined ? downloaded : replaceVendors(before, downloaded, vendors)
  const changes = listChanges(before, next)
  report(changes, print)
  print(`${next.source} of ${next.as_of}: ${describeSize(next)}`)
  const doubts = findDoubts(
    changes,
    only(before, vendors),
    { ...only(next, vendors), as_of: downloaded.as_of },
    today,
  )
  if (doubts.length > 0 && values.force !== true) {
    for (const doubt of doubts) print(`✖ ${doubt}`)
    print('Nothing was written. Check these prices; if they are correct, run again with --force.')
    return 1
  }
  if (values['dry-run']) return 0
  const to = resolve(values.to ?? files.named ?? files.usual)
  write(to, next)
  const later = readUsedList(files)
  if (later.fault === null && later.list.path === to) {
    print(`Written to ${to}. The service uses it after its next start.`)
    return 0
  }
  print(`Written to ${to}. To use it, set PRICES=${to}.`)
  const { asOf, path: other } = later.list
  print(
    later.fault ??
      `Without this setting, the list of ${asOf} stays in use (${other ?? 'as shipped'}).`,
  )
  return 0
}

/** Falls back to the shipped list when the list is unusable, so that this command can repair it. */
function readUsedList(files: PriceFiles): { list: PriceList; fault: string | null } {
  try {
    return { list: readPriceList(files), fault: null }
  } catch (error) {
    if (!(error instanceof WrongPriceList)) throw error
    return { list: openShippedList(), fault: error.message }
  }
}

function readList(path: string, date: string | undefined, today: string): PriceListFile {
  const day = date ?? statSync(path).mtime.toISOString().slice(0, 10)
  let json: unknown
  try {
    json = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new WrongPriceList(`${path} is not JSON: ${(error as Error).message}`)
  }
  return convertPriceList(json, day, today)
}

/** Replaces some vendors' prices. The date is the later one, so that the list stays in use. */
function replaceVendors(
  before: PriceListFile,
  downloaded: PriceListFile,
  vendors: string[],
): PriceListFile {
  const missing = vendors.filter((name) => !Object.hasOwn(downloaded.vendors, name))
  if (missing.length > 0)
    throw new WrongPriceList(`the list has no vendor called ${missing.join(', ')}`)
  return {
    as_of: downloaded.as_of > before.as_of ? downloaded.as_of : before.as_of,
    source: [...new Set([...before.source.split(', '), downloaded.source])].join(', '),
    vendors: { ...before.vendors, ...only(downloaded, vendors).vendors },
  }
}

function only(file: PriceListFile, vendors: string[] | undefined): PriceListFile {
  if (vendors === undefined) return file
  return {
    ...file,
    vendors: Object.fromEntries(
      vendors.map((name) => [
        name,
        Object.hasOwn(file.vendors, name) ? (file.vendors[name] ?? []) : [],
      ]),
    ),
  }
}

const countModels = ({ vendors }: PriceListFile) =>
  Object.values(vendors).reduce((sum, models) => sum + models.length, 0)

const describeSize = (file: PriceListFile) =>
  `${countModels(file)} models of ${Object.keys(file.vendors).length} vendors`

type Change = { name: string; was: ListedPrice['price'] | null; is: ListedPrice['price'] | null }

function listChanges(before: PriceListFile, after: PriceListFile): Change[] {
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

/** Limit for added and removed prices. Changed prices are always shown. */
const SHOWN_MAX = 20

function report(changes: Change[], print: Context['print']): void {
  for (const { name, was, is } of changes) {
    if (was !== null && is !== null)
      print(`~ ${name}  ${describePrice(was)} → ${describePrice(is)}`)
  }
  for (const [sign, some] of [
    ['+', changes.filter(({ was }) => was === null)],
    ['-', changes.filter(({ is }) => is === null)],
  ] as const) {
    for (const { name, was, is } of some.slice(0, SHOWN_MAX))
      print(`${sign} ${name}  ${describePrice(is ?? was)}`)
    if (some.length > SHOWN_MAX) print(`${sign} … and ${some.length - SHOWN_MAX} more`)
  }
}

function describePrice(price: ListedPrice['price'] | null): string {
  if (price === null) return ''
  const { long } = price
  const ofLong = long === undefined ? [] : [`above ${long.above} ${describeRate(long)}`]
  const ofMedia = MEDIA.flatMap((medium) => {
    const own = price[medium]
    if (own === undefined) return []
    if (own === 'as-text') return [`${medium} as text`]
    return [
      `${medium} ${Object.entries(own)
        .map(([part, usd]) => `${part} ${usd}`)
        .join(' ')}`,
    ]
  })
  return [describeRate(price), ...ofLong, ...ofMedia].join(', ')
}

function describeRate({ input, output = 0, cached, cache_write: written }: Price): string {
  const ofCache = [
    ...(cached === undefined ? [] : [`cached ${cached}`]),
    ...(written === undefined ? [] : [`written ${written}`]),
  ]
  return [`${input}/${output}`, ...ofCache].join(', ')
}

/** A price that changes by more than this factor is probably wrong. */
const JUMP = 4
/** US dollars per million tokens; the highest real price so far is 600. */
const DOLLARS_MAX = 5_000

function findDoubts(
  changes: Change[],
  before: PriceListFile,
  after: PriceListFile,
  today: string,
): string[] {
  const doubts = changes.flatMap(({ name, was, is }) => {
    if (is === null) return []
    const figures = [...Object.values(readFigures(is)), ...mediaFigures(is).values()]
    if (Math.max(...figures) > DOLLARS_MAX) return [`${name} would cost ${describePrice(is)}`]
    return was !== null && isJump(was, is)
      ? [`${name} would go from ${describePrice(was)} to ${describePrice(is)}`]
      : []
  })
  const [had, has] = [countModels(before), countModels(after)]
  if (has < had / 2) doubts.push(`there would be ${has} prices instead of ${had}`)
  // A list with a future date would override newer lists. One day is allowed for time zones.
  if (Date.parse(after.as_of) > Date.parse(today) + DAY_MS)
    doubts.push(`its date, ${after.as_of}, is in the future`)
  return doubts
}

type Price = ListedPrice['price']

const FIGURES = [
  'input',
  'output',
  'cached',
  'cache_write',
  'long_input',
  'long_output',
  'long_cached',
  'long_cache_write',
] as const

/**
 * Returns the effective prices: cached tokens default to the input's price, long prompts to that of
 * short ones.
 */
function readFigures({ long, ...rate }: Price): Record<(typeof FIGURES)[number], number> {
  const { input, output, cached, cacheWrite = input } = readRate(rate)
  const above = readRate(long ?? rate)
  return {
    input,
    output,
    cached,
    cache_write: cacheWrite,
    long_input: above.input,
    long_output: above.output,
    long_cached: above.cached,
    long_cache_write: above.cacheWrite ?? above.input,
  }
}

function isJump(was: Price, is: Price): boolean {
  const [old, fresh] = [readFigures(was), readFigures(is)]
  // Lists often add the lower price of cached tokens later than the model.
  if (was.cached === undefined && fresh.cached <= fresh.input) old.cached = fresh.cached
  if (was.long?.cached === undefined && fresh.long_cached <= fresh.long_input)
    old.long_cached = fresh.long_cached
  const [media, before] = [mediaFigures(is), mediaFigures(was)]
  // A newly listed price is no jump.
  const mediaJumps = [...media].some(([name, usd]) => jumps(before.get(name) ?? usd, usd))
  return mediaJumps || FIGURES.some((name) => jumps(old[name], fresh[name]))
}

function mediaFigures(price: Price): Map<string, number> {
  const found = MEDIA.flatMap((medium) => {
    const own = price[medium]
    if (own === undefined || own === 'as-text') return []
    return Object.entries(own).map(([part, usd]): [string, number] => [`${medium} ${part}`, usd])
  })
  return new Map(found)
}

const jumps = (was: number, is: number) => was !== is && (is > was * JUMP || is < was / JUMP)

/** Writes one model per line, so that lists can be compared. */
function write(path: string, { as_of, source, vendors }: PriceListFile): void {
  const lists = Object.entries(vendors).map(
    ([name, models]) =>
      `${JSON.stringify(name)}: [\n${models.map((model) => JSON.stringify(model)).join(',\n')}\n]`,
  )
  const head = `{"as_of": ${JSON.stringify(as_of)}, "source": ${JSON.stringify(source)}, "vendors": {`
  mkdirSync(dirname(path), { recursive: true })
  // Written to a temporary file, so that a reader never sees a partial list.
  writeFileSync(`${path}.new`, `${head}\n${lists.join(',\n')}\n}}\n`)
  renameSync(`${path}.new`, path)
}
