/** The files of a release as a tree of folders, short enough for a page. */
import { type Html, html, raw } from '#platform/http/html.ts'
import type { Messages } from '#platform/locale.ts'
import { getPageMessages, type PageMessages } from '../messages/pages.ts'

/** `files` counts all files below a folder; a file has no children. */
type Node = { name: string; files: number; children: Children | null }
type Children = Map<string, Node>

/** A release may have 10,000 files; a page shows about this many lines of them. */
const LINES_MAX = 90
const ROOT_LINES_MAX = 40
/** Short folders at the top are shown open. */
const OPEN_LINES_MAX = 8
const TOP_NAMES_MAX = 3

export type Contents = {
  files: number
  sizeBytes: number
  tree: Html
  /** The names at the top, folders first. */
  topNames: readonly string[]
}

type FileMessages = Pick<PageMessages, 'locale' | 'files'>
type ListedFile = { path: string; sizeBytes: number }

/** A listing stays the same array until a file changes, and a large tree takes 30 ms. */
const known: Messages<WeakMap<readonly ListedFile[], Contents>> = {
  en: new WeakMap(),
  de: new WeakMap(),
}

export function describeContents(
  files: readonly ListedFile[],
  messages: FileMessages = getPageMessages('en'),
): Contents {
  const cache = known[messages.locale]
  const contents = cache.get(files) ?? computeContents(files, messages)
  cache.set(files, contents)
  return contents
}

function computeContents(files: readonly ListedFile[], { files: text }: FileMessages): Contents {
  const root = buildTree(files.map(({ path }) => path))
  const view = {
    listed: chooseFolders(root),
    openMax: OPEN_LINES_MAX,
    max: ROOT_LINES_MAX,
    text,
  }
  return {
    files: files.length,
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    tree: renderList(root, view),
    topNames: listChildren(root).slice(0, TOP_NAMES_MAX).map(formatName),
  }
}

function buildTree(paths: readonly string[]): Node {
  const root: Node = { name: '', files: 0, children: new Map() }
  for (const path of paths) {
    const names = path.split('/')
    let folder = root
    folder.files++
    names.forEach((name, index) => {
      const isFile = index === names.length - 1
      const children = folder.children as Children
      // A bucket may have the file `a` beside the folder `a/`.
      const key = isFile ? name : `${name}/`
      const known = children.get(key) ?? { name, files: 0, children: isFile ? null : new Map() }
      known.files++
      children.set(key, known)
      folder = known
    })
  }
  return root
}

/** Chooses the folders whose files are listed: those at the top first, while there is space. */
function chooseFolders(root: Node): ReadonlySet<Children> {
  const chosen = new Set<Children>()
  const queue = listChildren(root).slice(0, ROOT_LINES_MAX)
  let lines = queue.length
  for (const node of queue) {
    const children = listChildren(node)
    if (node.children === null || lines + children.length > LINES_MAX) continue
    chosen.add(node.children)
    lines += children.length
    queue.push(...children)
  }
  return chosen
}

function listChildren({ children }: Node): Node[] {
  return [...(children?.values() ?? [])].map(joinChain).sort(compareNodes)
}

/** Shows a folder with only one folder in it as one: `.github/workflows`. */
function joinChain(node: Node): Node {
  const [only, ...others] = node.children?.values() ?? []
  if (!only || only.children === null || others.length > 0) return node
  return joinChain({ ...only, name: `${node.name}/${only.name}` })
}

/** Folders first, and hidden ones last among them. */
function compareNodes(a: Node, b: Node): number {
  const rank = ({ name, children }: Node) =>
    (children === null ? 2 : 0) + (name.startsWith('.') ? 1 : 0)
  return rank(a) - rank(b) || (a.name < b.name ? -1 : 1)
}

type View = {
  listed: ReadonlySet<Children>
  openMax: number
  max: number
  text: PageMessages['files']
}

function renderList(folder: Node, view: View): Html {
  const children = listChildren(folder)
  const left = children.slice(view.max).reduce((sum, { files }) => sum + files, 0)
  return html`<ul>${children.slice(0, view.max).map((node) => renderNode(node, view))}${left > 0 && html`<li class="soft">${view.text.more(view.text.count(left))}</li>`}</ul>`
}

function renderNode(node: Node, view: View): Html {
  if (node.children === null) return html`<li>${node.name}</li>`
  const label = html`${formatName(node)} <span class="soft">${view.text.count(node.files)}</span>`
  if (!view.listed.has(node.children)) return html`<li>${label}</li>`
  const inner = renderList(node, { ...view, openMax: 0, max: Number.POSITIVE_INFINITY })
  return html`<li><details${node.children.size <= view.openMax && raw(' open')}><summary>${label}</summary>${inner}</details></li>`
}

const formatName = ({ name, children }: Node) => (children === null ? name : `${name}/`)
