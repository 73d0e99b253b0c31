/**
 * Renders PDFs with pdf.js. Its worker, tables and fonts come from this origin, and it evaluates
 * no code, because the page's policy forbids both.
 */
import {
  GlobalWorkerOptions,
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
} from 'pdfjs-dist/legacy/build/pdf.mjs'
import workerUrl from 'pdfjs-dist/legacy/build/pdf.worker.min.mjs?url'
import { findHighlights } from './highlights.ts'

const files = import.meta.glob<string>(
  [
    '../../../node_modules/pdfjs-dist/cmaps/*.bcmap',
    '../../../node_modules/pdfjs-dist/standard_fonts/*.{pfb,ttf}',
  ],
  { query: '?url', import: 'default', eager: true },
)
const addresses = new Map(
  Object.entries(files).map(([path, url]) => [path.slice(path.lastIndexOf('/') + 1), url]),
)

/** Loads the fonts and tables that a PDF does not embed. */
class OwnFiles {
  async fetch({ filename }: { filename: string }): Promise<Uint8Array> {
    const url = addresses.get(filename)
    if (url === undefined) throw new Error(`${filename} is missing`)
    return new Uint8Array(await (await fetch(url)).arrayBuffer())
  }
}

/** @throws pdf.js's error for a file that it cannot open */
export function openPdf(data: ArrayBuffer): Promise<PDFDocumentProxy> {
  GlobalWorkerOptions.workerSrc = workerUrl
  return getDocument({
    data,
    BinaryDataFactory: OwnFiles,
    cMapPacked: true,
    useWorkerFetch: false,
    useWasm: false,
    enableXfa: false,
    disableWorkerRendering: true,
    verbosity: 0,
  }).promise
}

export type HighlightBox = { left: number; top: number; width: number; height: number }

/** Renders a page and returns the boxes of the passage, in fractions of the page. */
export async function drawPage(
  page: PDFPageProxy,
  canvas: HTMLCanvasElement,
  { width, passage }: { width: number; passage: string | null },
): Promise<HighlightBox[]> {
  const { width: points } = page.getViewport({ scale: 1 })
  const viewport = page.getViewport({
    scale: (width / points) * Math.min(window.devicePixelRatio, 2),
  })
  canvas.width = Math.floor(viewport.width)
  canvas.height = Math.floor(viewport.height)
  await page.render({ canvas, viewport }).promise
  return passage === null ? [] : findHighlightBoxes(page, passage)
}

async function findHighlightBoxes(page: PDFPageProxy, passage: string): Promise<HighlightBox[]> {
  const viewport = page.getViewport({ scale: 1 })
  const { items } = await page.getTextContent()
  const pieces = items.flatMap((item) => ('str' in item ? [item] : []))
  const highlights = findHighlights(pieces.map(({ str }) => str).join('\n'), passage)
  const found: HighlightBox[] = []
  let at = 0
  for (const { str, transform, width, height } of pieces) {
    const marks = highlights.subarray(at, at + str.length)
    at += str.length + 1
    const first = marks.indexOf(1)
    if (first < 0) continue
    const last = marks.lastIndexOf(1) + 1
    const [a = 1, b = 0, , , e = 0, f = 0] = transform as number[]
    const size = Math.hypot(a, b) || 1
    const tall = height || size
    // Along the writing direction, from the first matching letter to the last.
    const point = (along: number, up: number) =>
      viewport.convertToViewportPoint(
        e + (a * along - b * up) / size,
        f + (b * along + a * up) / size,
      ) as [number, number]
    const corners = [
      point((width * first) / str.length, -tall * 0.25),
      point((width * last) / str.length, tall * 0.95),
    ]
    const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)]
    found.push({
      left: Math.min(...xs) / viewport.width,
      top: Math.min(...ys) / viewport.height,
      width: Math.abs((xs[0] ?? 0) - (xs[1] ?? 0)) / viewport.width,
      height: Math.abs((ys[0] ?? 0) - (ys[1] ?? 0)) / viewport.height,
    })
  }
  return found
}
