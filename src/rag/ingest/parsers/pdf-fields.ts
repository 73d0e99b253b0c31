// The values of form fields in a PDF page, as pieces of text at their places. The trap: a field's
// value may differ from its drawing, and the drawing counts.
import type { Piece } from './pdf-lines.ts'

export type Annotation = {
  subtype?: string
  annotationFlags?: number
  rect?: number[]
  fieldType?: string
  fieldValue?: unknown
  /** The lines that its appearance draws. */
  textContent?: string[]
  contentsObj?: { str?: string }
  password?: boolean
  multiLine?: boolean
  checkBox?: boolean
  radioButton?: boolean
  exportValue?: string
  buttonValue?: string | null
  options?: { exportValue?: string; displayValue?: string }[]
  defaultAppearanceData?: { fontSize?: number }
}

/** Hidden, or invisible on a screen (PDF 32000-1, table 165). */
const HIDDEN = 2 | 32

/** Limit of pieces times fields, a search each. Further fields follow their page's text. */
const LOOKED_AT_MAX = 10_000_000

/** @returns the page's pieces with those of its fields, in reading order */
export function insertFields(pieces: Piece[], annotations: Annotation[], rotate = 0): Piece[] {
  const fields = annotations
    .filter(({ annotationFlags = 0 }) => (annotationFlags & HIDDEN) === 0)
    .flatMap((annotation) => readPieces({ ...annotation, rect: turnRect(annotation.rect, rotate) }))
  if (fields.length === 0) return pieces
  const all = [...pieces]
  const sorted = fields.sort((a, b) => a.y - b.y || a.x - b.x)
  if (fields.length * (pieces.length + fields.length) > LOOKED_AT_MAX) return [...all, ...sorted]
  for (const field of sorted) place(all, field)
  return all
}

/** Turns a rectangle so that x follows the direction of the page's text. */
function turnRect(
  [left = 0, low = 0, right = 0, high = 0]: number[] = [],
  rotate: number,
): number[] {
  if (rotate === 90) return [low, -right, high, -left]
  if (rotate === 180) return [-right, -high, -left, -low]
  return rotate === 270 ? [-high, left, -low, right] : [left, low, right, high]
}

const CHECKED = '[x]'
const UNCHECKED = '[ ]'

/** Returns the lines of a field from the top down. */
function readPieces(annotation: Annotation): Piece[] {
  const {
    rect: [left = 0, low = 0, right = 0, high = 0] = [],
    defaultAppearanceData,
    multiLine,
  } = annotation
  const lines = splitLines(annotation)
  const room = (high - low) / Math.max(1, multiLine ? Math.max(lines.length, 2) : lines.length)
  const height = Math.max(1, Math.min(defaultAppearanceData?.fontSize || 12, room * 0.8))
  return lines.flatMap((text, i) => {
    if (text.trim() === '') return []
    // The text's place: the middle of a single line's box; the top of a box for several lines.
    const y =
      lines.length === 1 && !multiLine
        ? (low + high) / 2 - height * 0.35
        : high - height - i * height * 1.2
    const width = Math.min(right - left, text.length * height * 0.5)
    return [{ text, x: left, y: -y, width, height, font: '' }]
  })
}

function splitLines(annotation: Annotation): string[] {
  const {
    subtype,
    fieldType,
    fieldValue,
    textContent = [],
    contentsObj,
    password,
    options = [],
  } = annotation
  const shown = textContent.join('\n')
  if (subtype === 'FreeText') return (shown || contentsObj?.str || '').split(/\r\n?|\n/)
  if (subtype !== 'Widget' || password) return []
  if (fieldType === 'Tx') return (shown.trim() ? shown : toText(fieldValue)).split(/\r\n?|\n/)
  if (fieldType === 'Ch') {
    const readName = (value: string) =>
      options.find(({ exportValue }) => exportValue === value)?.displayValue ?? value
    return [fieldValue].flat().map((value) => readName(toText(value)))
  }
  return fieldType === 'Btn' ? readMark(annotation) : []
}

function readMark({
  checkBox,
  radioButton,
  fieldValue,
  exportValue,
  buttonValue,
}: Annotation): string[] {
  if (checkBox) return [fieldValue === exportValue ? CHECKED : UNCHECKED]
  if (radioButton) return [fieldValue !== null && fieldValue === buttonValue ? CHECKED : UNCHECKED]
  return []
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '')

/** After the piece to its left in its row; without a row, after the piece above. */
function place(pieces: Piece[], field: Piece): void {
  // A blank between two words of the row is no gap when a field fills it.
  for (let i = pieces.length - 1; i >= 0; i--)
    if (isFilled(pieces[i] as Piece, field)) pieces.splice(i, 1)
  const row: number[] = []
  let above = -1
  for (const [i, piece] of pieces.entries()) {
    if (piece.text.trim() === '') continue
    const drop = field.y - piece.y
    if (Math.abs(drop) < Math.max(piece.height, field.height) * 0.6) row.push(i)
    else if (drop > 0 && drop <= field.y - (pieces[above]?.y ?? -Infinity)) above = i
  }
  const at = (i: number) => pieces[i] as Piece
  const left = row.filter((i) => at(i).x <= field.x).sort((a, b) => at(b).x - at(a).x)[0]
  const right = row.filter((i) => at(i).x > field.x).sort((a, b) => at(a).x - at(b).x)[0]
  const nearest = left === undefined ? right : left
  // A checkbox precedes its label; in a form of several columns it follows another box's label.
  const isBefore =
    right !== undefined &&
    (left === undefined ||
      at(right).x - field.x < Math.min(field.height * 3, field.x - at(left).x - at(left).width))
  const y =
    nearest === undefined ? field.y : at(isBefore && right !== undefined ? right : nearest).y
  pieces.splice(isBefore ? right : (left ?? above) + 1, 0, { ...field, y })
}

function isFilled({ text, x, y, width, height }: Piece, field: Piece): boolean {
  const isHere = Math.abs(y - field.y) < Math.max(height, field.height) * 0.6
  return isHere && text.trim() === '' && x < field.x + field.width && x + width > field.x
}
