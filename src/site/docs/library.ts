/**
 * The pages of documentation: the Markdown files of docs/ that its README lists, read once at the
 * start. Readers see them with this service's name and addresses. Pages and passages for operators
 * are shown to superusers only.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { HeadingIds } from '#storefront/pages/markdown.ts'
import { parseBlocks } from '#storefront/pages/markdown-blocks.ts'

export type Audience = 'everyone' | 'operator'

/** This service's values, which replace the examples in the texts of the documentation. */
export type Setting = {
  brand: string
  urls: { base: string; frontend: string; storefront: string }
}

export type DocPage = {
  /** The last part of its address: `clients`. */
  name: string
  title: string
  /** The task that the page helps with, as a sentence without its full stop. */
  task: string
  audience: Audience
  /** Markdown after the title. Links to other pages are paths of the storefront. */
  text: string
  sections: readonly DocSection[]
}

/** A heading with the text below it. The text before the first heading has an empty id. */
export type DocSection = { id: string; title: string; depth: number; text: string }

type DocFile = Pick<DocPage, 'name' | 'title' | 'task' | 'audience' | 'text'>

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'docs')
const LISTS: readonly [heading: string, audience: Audience][] = [
  ['Using', 'everyone'],
  ['Operating', 'operator'],
]
const ROW = /^\| \[([\w-]+)\.md\]\(\1\.md\)[^|]*\| (.+?) \|$/gm
/** Code, which stays as it is, or a link. */
const CODE_OR_LINK = /(```[\s\S]*?```|`[^`\n]*`)|\[([^\]]+)\]\(([^\s()]+)\)/g
const FOR_OPERATORS = /\n?<!-- operator -->\n([\s\S]*?)<!-- \/operator -->\n?/g

export class DocLibrary {
  readonly #files: readonly DocFile[]
  /** The last pages of each audience; the setting changes rarely. */
  readonly #views = new Map<Audience, { key: string; pages: readonly DocPage[] }>()

  /** @throws Error when the folder or a listed file is missing */
  constructor(folder = FOLDER) {
    const index = readFileSync(join(folder, 'README.md'), 'utf8')
    this.#files = LISTS.flatMap(([heading, audience]) => {
      const list = new RegExp(`^## ${heading}$(.*?)(?=^## |(?![\\s\\S]))`, 'ms').exec(index)
      return [...(list?.[1] ?? '').matchAll(ROW)].map(([, name = '', task = '']) => ({
        name,
        task: task.charAt(0).toUpperCase() + task.slice(1),
        audience,
        ...splitTitle(readFileSync(join(folder, `${name}.md`), 'utf8')),
      }))
    })
  }

  /** Lists the pages in the order of the README. Operators see all pages. */
  list(audience: Audience, setting: Setting): readonly DocPage[] {
    const key = JSON.stringify(setting)
    const known = this.#views.get(audience)
    if (known?.key === key) return known.pages
    const files = this.#files.filter(
      (file) => audience === 'operator' || file.audience === audience,
    )
    const pages = files.map((file) => adaptPage(file, files, audience, setting))
    this.#views.set(audience, { key, pages })
    return pages
  }
}

function splitTitle(content: string): { title: string; text: string } {
  const [, title = '', text = ''] = /^# (.+)\n([\s\S]*)$/.exec(content) ?? []
  return { title, text: text.trim() }
}

function adaptPage(
  file: DocFile,
  files: readonly DocFile[],
  audience: Audience,
  setting: Setting,
): DocPage {
  const shown = file.text.replace(FOR_OPERATORS, audience === 'operator' ? '\n$1' : '\n')
  const linked = shown.replace(CODE_OR_LINK, (match, code, label: string, target: string) => {
    if (code !== undefined) return match
    const url = resolveLink(target, files, setting)
    return url === null ? label : `[${label}](${url})`
  })
  const text = insertSetting(linked, setting)
  return { ...file, title: insertSetting(file.title, setting), text, sections: listSections(text) }
}

/** Replaces the examples' addresses and the name of the software. Technical names stay. */
function insertSetting(text: string, { brand, urls }: Setting): string {
  return text
    .replaceAll(/http:\/\/localhost:8000(?!\d)/g, urls.base)
    .replaceAll(/http:\/\/localhost:8001(?!\d)|https:\/\/shop\.example\.com/g, urls.storefront)
    .replaceAll(/(?<=\s)docs\/openapi\.json/g, `${urls.storefront}/docs/openapi.json`)
    .replaceAll(/(?<![\w-])Latchkey\b/g, () => brand)
}

/** Returns null for files that only the source code has. */
function resolveLink(target: string, files: readonly DocFile[], { urls }: Setting): string | null {
  if (/^(?:https?:|mailto:|#)/.test(target)) return target
  if (target === 'openapi.json') return `${urls.frontend}/reference`
  const [, name, place = ''] = /^([\w-]+)\.md(#.*)?$/.exec(target) ?? []
  return files.some((file) => file.name === name) ? `/docs/${name}${place}` : null
}

function listSections(text: string): DocSection[] {
  const ids = new HeadingIds()
  const sections: { id: string; title: string; depth: number; lines: string[] }[] = [
    { id: '', title: '', depth: 1, lines: [] },
  ]
  for (const block of parseBlocks(text)) {
    if (block.kind === 'heading') {
      const { depth, text: title } = block
      sections.push({ id: ids.create(title), title: title.replaceAll('`', ''), depth, lines: [] })
    } else sections.at(-1)?.lines.push(...listTexts([block]))
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n') }))
}

function listTexts(blocks: ReturnType<typeof parseBlocks>): string[] {
  return blocks.flatMap((block) => {
    if (block.kind === 'list') return block.items.flatMap(listTexts)
    if (block.kind === 'table') return [block.head, ...block.rows].map((row) => row.join(' '))
    return [block.text]
  })
}
