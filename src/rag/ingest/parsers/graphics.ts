/** Charts and diagrams (SmartArt) of slides, sheets and documents, found by their relation. */
import { chartText, POINTS_MAX } from './chart.ts'
import { decodeXml, PART_MAX, readRelations } from './office.ts'
import { type Graphics, shapesText } from './shapes.ts'
import type { Zip } from './zip.ts'

type Options = {
  /** Whether the numbers of charts are only in the charts, not elsewhere in the file. */
  hasNumbers: boolean
  /** Collects the reasons for parts that could not be read. */
  leftOut: Set<string>
}

export function openGraphics(zip: Zip, part: string, { hasNumbers, leftOut }: Options): Graphics {
  const relations = readRelations(zip, part)
  return {
    readText(relationId) {
      const { type, target } = relations.find(({ id }) => id === relationId) ?? {}
      const bytes =
        target === undefined || type === 'chartEx' ? undefined : zip.read(target, PART_MAX)
      if (bytes === undefined) {
        leftOut.add(
          type === 'diagramData' ? 'Diagrams (SmartArt) are left out.' : 'Charts are left out.',
        )
        return ''
      }
      if (type === 'diagramData') return shapesText(decodeXml(bytes), NONE).replace(/\n+/g, '\n')
      const { text, isCut } = chartText(decodeXml(bytes), { hasNumbers })
      if (isCut) leftOut.add(`Points of a chart beyond the first ${POINTS_MAX} are left out.`)
      return [text, ...readBoxes(zip, target ?? '')].filter((part) => part !== '').join('\n\n')
    },
  }
}

const NONE: Graphics = { readText: () => '' }

/** Reads the text boxes inside a chart. */
function readBoxes(zip: Zip, chart: string): string[] {
  const drawings = readRelations(zip, chart).filter(({ type }) => type === 'chartUserShapes')
  return drawings.flatMap(({ target }) => {
    const bytes = zip.read(target, PART_MAX)
    return bytes === undefined ? [] : shapesText(decodeXml(bytes), NONE)
  })
}
