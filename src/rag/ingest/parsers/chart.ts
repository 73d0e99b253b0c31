/** Charts (DrawingML): titles, and a table for each group of series over the same categories. */
import { formatNumber, type Shown, shownNumber } from './shown-numbers.ts'
import { markdownTable } from './table.ts'
import { walkXml } from './xml.ts'

type Points = Map<number, string>
type Series = { name: string; categories: Points; values: Points }

/** Over all series: a file may claim a point at any index. */
export const POINTS_MAX = 100_000
const CELLS_MAX = 1_000_000

export function chartText(
  xml: string,
  { hasNumbers }: { hasNumbers: boolean },
): { text: string; isCut: boolean } {
  const { titles, labels, series, isCut } = readChart(xml)
  const names = series.map(({ name }) => name).filter((name) => name !== '')
  const words = [...titles, ...(hasNumbers ? [] : names), ...labels].filter((text) => text !== '')
  const head = words.length === 0 ? '' : `Chart: ${words.join('; ')}`
  const parts = [head, ...(hasNumbers ? readTables(series) : [])]
  return { text: parts.filter((text) => text !== '').join('\n\n'), isCut: isCut && hasNumbers }
}

function readTables(series: readonly Series[]): string[] {
  const filled = series.filter(({ values }) => values.size > 0)
  const groups = Map.groupBy(filled, ({ categories }) => JSON.stringify([...categories]))
  return [...groups.values()].flatMap((group) => {
    const categories = group[0]?.categories ?? new Map<number, string>()
    const places = new Set([
      ...categories.keys(),
      ...group.flatMap(({ values }) => [...values.keys()]),
    ])
    const isWide = places.size * group.length > CELLS_MAX
    return isWide
      ? group.map((one) => readTable([one], [...one.values.keys()]))
      : readTable(group, [...places])
  })
}

function readTable(group: readonly Series[], places: number[]): string {
  const rows = places
    .sort((a, b) => a - b)
    .map((place) => [
      group[0]?.categories.get(place) ?? '',
      ...group.map(({ values }) => values.get(place) ?? ''),
    ])
  return markdownTable([['', ...group.map(({ name }) => name)], ...rows])
}

/** The elements of a series that contain points. */
const held: Record<string, 'name' | 'categories' | 'values'> = {
  tx: 'name',
  cat: 'categories',
  xVal: 'categories',
  val: 'values',
  yVal: 'values',
}

function readChart(xml: string): {
  titles: string[]
  labels: string[]
  series: Series[]
  isCut: boolean
} {
  const titles: string[] = []
  const labels: string[] = []
  const series: Series[] = []
  let current: Series | null = null
  let holds: 'name' | 'categories' | 'values' | null = null
  let words: string[] | null = null
  let shown: Shown = 'number'
  let is1904 = false
  let place = 0
  let points = 0
  let inPoint = false
  let pointText = ''
  walkXml(xml, {
    open(name, attributes) {
      if (name === 'date1904') is1904 = attributes().get('val') !== '0'
      else if (name === 'ser') {
        current = { name: '', categories: new Map(), values: new Map() }
        series.push(current)
      } else if (name === 'title') words = titles
      else if (name === 'dLbl') words = labels
      else if (current !== null && words === null && name in held) {
        holds = held[name] ?? null
        shown = 'number'
      } else if (name === 'pt') place = Math.trunc(Number(attributes().get('idx'))) || 0
      else if (name === 'v' || name === 't' || name === 'formatCode') {
        inPoint = true
        pointText = ''
      }
    },
    close(name) {
      if (name === 'ser') current = null
      else if (name === 'title' || name === 'dLbl') words = null
      else if (name in held) holds = null
      if (!inPoint || !(name === 'v' || name === 't' || name === 'formatCode')) return
      inPoint = false
      if (name === 'formatCode') shown = formatNumber(pointText)
      else if (words !== null) words.push(pointText.trim())
      else if (current !== null && holds === 'name') current.name = pointText.trim()
      else if (current !== null && holds !== null && points++ < POINTS_MAX)
        current[holds as 'values'].set(place, shownNumber(pointText, shown, is1904))
    },
    text(text) {
      if (inPoint) pointText += text
    },
  })
  return { titles, labels, series, isCut: points > POINTS_MAX }
}
