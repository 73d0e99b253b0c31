// Opens a buyer's archive with other programs, with the right and with a wrong password. A program
// that is not installed is skipped.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Uint8ArrayReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js'
import { planArchive, readArchive } from '#storefront/downloads/zip/archive.ts'
import { openPack, preparePack } from '#storefront/downloads/zip/pack.ts'
import { folderStore } from '#storefront/products/folder-store.ts'
import { printTable } from '../lib/table.ts'

const PASSWORD = 'LK-7F3K-9QZT-0001'
const TOP = 'product-1.0.0'
const PYZIPPER = `
import pyzipper, sys
with pyzipper.AESZipFile(sys.argv[1]) as archive:
    archive.setpassword(sys.argv[2].encode())
    archive.extractall(sys.argv[3])
`

type Unpack = (archive: string, password: string, into: string) => Promise<boolean> | boolean
type Reader = { name: string; isInstalled: boolean; unpack: Unpack }

/** Prints which programs unpack an archive of the folder to the same files. */
export async function printReaders(folder: string, work: string): Promise<void> {
  mkdirSync(work, { recursive: true })
  const archive = join(work, 'product.zip')
  writeFileSync(archive, await makeArchive(folder, work))
  const expected = hashFolder(folder)
  const rows: string[][] = []
  for (const { name, isInstalled, unpack } of listReaders()) {
    if (!isInstalled) {
      rows.push([name, 'not installed', ''])
      continue
    }
    const into = join(work, name)
    const opened = await unpack(archive, PASSWORD, into)
    const isSame = opened && hashFolder(join(into, TOP)) === expected
    const openedWrong = await unpack(archive, 'LK-WRONG', join(work, `${name}-wrong`))
    rows.push([name, isSame ? 'unpacks it' : 'FAILS', openedWrong ? 'ACCEPTED' : 'rejected'])
  }
  printTable('Programs that open the archive', ['program', 'result', 'a wrong password'], rows)
}

function listReaders(): Reader[] {
  const sevenZip = ['7z', '7zz', '7za'].find(exists)
  const hasPyzipper = spawnSync('python3', ['-c', 'import pyzipper']).status === 0
  return [
    {
      name: '7z',
      isInstalled: sevenZip !== undefined,
      unpack: (archive, password, into) =>
        succeeds(sevenZip, ['x', `-p${password}`, `-o${into}`, '-y', archive]),
    },
    {
      name: 'bsdtar',
      isInstalled: exists('bsdtar'),
      unpack(archive, password, into) {
        mkdirSync(into, { recursive: true })
        return succeeds('bsdtar', ['-x', '--passphrase', password, '-C', into, '-f', archive])
      },
    },
    {
      name: 'pyzipper',
      isInstalled: hasPyzipper,
      unpack: (archive, password, into) =>
        succeeds('python3', ['-c', PYZIPPER, archive, password, into]),
    },
    { name: 'zip.js', isInstalled: true, unpack: unpackWithZipJs },
  ]
}

async function unpackWithZipJs(archive: string, password: string, into: string): Promise<boolean> {
  const reader = new ZipReader(new Uint8ArrayReader(readFileSync(archive)), { password })
  try {
    for (const entry of await reader.getEntries()) {
      if (entry.directory) continue
      const path = join(into, entry.filename)
      mkdirSync(join(path, '..'), { recursive: true })
      writeFileSync(path, await entry.getData(new Uint8ArrayWriter()))
    }
    return true
  } catch {
    return false
  }
}

async function makeArchive(folder: string, cache: string): Promise<Buffer> {
  const pack = await preparePack(cache, await folderStore(folder).files('.'))
  const archive = planArchive({
    entries: pack.entries,
    folder: TOP,
    modifiedAt: new Date('2026-01-01T00:00:00Z'),
    password: PASSWORD,
    saltKey: Buffer.alloc(32, 1),
  })
  const source = await openPack(cache, pack)
  const pieces: Buffer[] = []
  for await (const piece of readArchive(archive, source)) pieces.push(piece)
  await source.close()
  return Buffer.concat(pieces)
}

function exists(command: string): boolean {
  return !spawnSync(command, ['--help']).error
}

function succeeds(command: string | undefined, args: string[]): boolean {
  return command !== undefined && spawnSync(command, args).status === 0
}

/** Returns one hash of all names and contents. */
function hashFolder(folder: string): string {
  if (!existsSync(folder)) return ''
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name)
    if (statSync(path).isFile())
      hash.update(`${relative(folder, path)}\0`).update(readFileSync(path))
  }
  return hash.digest('hex')
}
