/**
 * After `npm ci --omit=dev`: removes files from node_modules that nothing reads at run time, about
 * 200 MB of 400. The packages remain, so npm accepts the tree. Does nothing when the development
 * packages are installed, because they need the types.
 */
import { existsSync, globSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const MODULES = join(ROOT, 'node_modules')

const UNREAD = [
  '**/*.{map,d.ts,d.mts,d.cts,md,markdown,flow}',
  // C headers and manuals of the Node that runs the service.
  'node/node_modules/*/{include,share}',
  // The service reads pdfjs-dist/legacy.
  'pdfjs-dist/{build,web,types,image_decoders}',
  'pdfjs-dist/legacy/web',
  // Sources of the native program, and binaries for other machines.
  'usearch/{c,cmake,cpp,include,numkong}',
]

if (!existsSync(join(MODULES, 'vite'))) trim()

function trim(): void {
  const foreign = globSync('*/prebuilds/*', { cwd: MODULES }).filter(
    (path) =>
      !path.split(/[\\/]/).at(-1)?.startsWith(`${process.platform}-`) ||
      !path.includes(process.arch),
  )
  const unread = globSync(UNREAD, { cwd: MODULES }).filter(
    (path) => !/licen[cs]e|notice|copying/i.test(path),
  )
  for (const path of [...unread, ...foreign])
    rmSync(join(MODULES, path), { recursive: true, force: true })
  console.log(
    `${unread.length + foreign.length} unused files and folders removed from node_modules`,
  )
}
