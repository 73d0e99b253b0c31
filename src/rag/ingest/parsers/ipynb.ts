/** Jupyter notebooks (nbformat 3 and 4): text cells unchanged, code and text output as blocks. */
import { htmlToMarkdown } from './html.ts'
import { parsePlainText } from './plain-text.ts'
import { PICTURES, type Reading, Unreadable, type Warning } from './unreadable.ts'

type Fields = Record<string, unknown>

export async function parseIpynb(bytes: Uint8Array): Promise<Reading> {
  const notebook = parseNotebook(await parsePlainText(bytes))
  const cells = toArray(notebook.cells ?? toFields(toArray(notebook.worksheets)[0]).cells).map(
    toFields,
  )
  const { language_info, kernelspec } = toFields(notebook.metadata)
  const language = readText(toFields(language_info).name) || readText(toFields(kernelspec).language)
  const warnings = new Set<Warning>()
  const parts = cells.flatMap((cell) =>
    cellParts(cell, /^\w*$/.test(language) ? language : '', warnings),
  )
  return { text: parts.filter((part) => part.trim() !== '').join('\n\n'), warnings: [...warnings] }
}

/** @throws Unreadable */
function parseNotebook(text: string): Fields {
  let notebook: unknown
  try {
    notebook = JSON.parse(text)
  } catch (cause) {
    throw new Unreadable('The file is damaged: a notebook is JSON, and this is not.', { cause })
  }
  const fields = toFields(notebook)
  if (!Array.isArray(fields.cells) && !Array.isArray(fields.worksheets))
    throw new Unreadable('The file is named .ipynb but is not a notebook: it has no cells.')
  return fields
}

function cellParts(cell: Fields, language: string, warnings: Set<Warning>): string[] {
  const source = readText(cell.source ?? cell.input)
  if (cell.cell_type === 'heading')
    return [`${'#'.repeat(Math.min(6, Math.max(1, Number(cell.level) || 1)))} ${source}`]
  if (cell.cell_type !== 'code') return [withoutPictures(source, warnings)]
  return [
    block(source, language),
    ...toArray(cell.outputs).map((output) => outputText(toFields(output), warnings)),
  ]
}

/** Removes base64 pictures from the text. */
function withoutPictures(markdown: string, warnings: Set<Warning>): string {
  if (/!\[[^\]]{0,200}\]\(/.test(markdown) || /<img\b/i.test(markdown)) warnings.add(PICTURES)
  return markdown.replace(/\bdata:image\/[\w.+-]{1,40};base64,[A-Za-z0-9+/=]*/g, '')
}

function outputText(output: Fields, warnings: Set<Warning>): string {
  if (output.output_type === 'stream') return block(readText(output.text))
  if (output.output_type === 'error' || output.output_type === 'pyerr')
    return block(`${readText(output.ename)}: ${readText(output.evalue)}`)
  // nbformat 3 has no `data`: the output itself has the same content under short names.
  const data = toFields(output.data ?? output)
  const hasPicture = Object.keys(data).some((type) => /^image\/|^(?:png|jpeg|svg)$/.test(type))
  if (hasPicture) {
    // The text of a picture only gives its size.
    warnings.add(PICTURES)
    return ''
  }
  const page = readText(data['text/html'] ?? data.html)
  const markdown = readText(data['text/markdown'])
  const plain = readText(data['text/plain'] ?? data['text/latex'] ?? data.text)
  if (markdown !== '') return withoutPictures(markdown, warnings)
  // Tables are read as a page to preserve their columns; a widget or a script has no text.
  if (/<table\b/i.test(page) || plain === '') return htmlToMarkdown(page).text || block(plain)
  return block(plain)
}

/** Colours of a terminal. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape is what they begin with
const COLOURS = /\x1b\[[0-9;]{0,20}m/g

function block(text: string, language = ''): string {
  const plain = text.replace(COLOURS, '').trimEnd()
  return plain.trim() === '' ? '' : `\`\`\`${language}\n${plain}\n\`\`\``
}

/** Joins the lines of a text. */
function readText(value: unknown): string {
  return Array.isArray(value)
    ? value.filter((line) => typeof line === 'string').join('')
    : typeof value === 'string'
      ? value
      : ''
}

const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const toFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}
