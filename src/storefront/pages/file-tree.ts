/** The files of a release as a tree of folders, short enough for a page. */
import { type Html, html, raw } from '#platform/http/html.ts'

/** `files` counts all files below a folder; a file has no children. */
type Node = { name: string; files: number; children: Children | null }
type Children = Map<string, Node>

/** A release may have 10,000 files; a page shows about this many lines of them. */
const LINES_MAX = 90
const ROOT_LINES_MAX = 40
/** The folders at the top of a short tree are shown open. */
const OPEN_FILES_MAX = 50

export function fileTree(paths: readonly string[]): Html {
  const root = buildTree(paths)
  const opened = chooseFolders(root)
  return renderList(root, { opened, isOpen: paths.length <= OPEN_FILES_MAX, max: ROOT_LINES_MAX })
}

/** Lists the names at the top, folders first. */
export function listTopNames(paths: readonly string[]): string[] {
  return listChildren(buildTree(paths)).map(formatName)
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
      const known = children.get(name) ?? { name, files: 0, children: isFile ? null : new Map() }
      known.files++
      children.set(name, known)
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

type View = { opened: ReadonlySet<Children>; isOpen: boolean; max: number }

function renderList(folder: Node, view: View): Html {
  const children = listChildren(folder)
  const left = children.slice(view.max).reduce((sum, { files }) => sum + files, 0)
  return html`<ul>${children.slice(0, view.max).map((node) => renderNode(node, view))}${left > 0 && html`<li class="soft">and ${countFiles(left)} more</li>`}</ul>`
}

function renderNode(node: Node, view: View): Html {
  if (node.children === null) return html`<li>${node.name}</li>`
  const label = html`${formatName(node)} <span class="soft">${countFiles(node.files)}</span>`
  if (!view.opened.has(node.children)) return html`<li>${label}</li>`
  const inner = renderList(node, { ...view, isOpen: false, max: Number.POSITIVE_INFINITY })
  return html`<li><details${view.isOpen && raw(' open')}><summary>${label}</summary>${inner}</details></li>`
}

const formatName = ({ name, children }: Node) => (children === null ? name : `${name}/`)

export function countFiles(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en')} files`
}
