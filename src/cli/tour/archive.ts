// Opens the downloaded archive with a third-party program: 7z if it is installed, otherwise zip.js.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * @returns which program opened it and the names of the files. @throws Error when it does not open
 * with the password.
 */
export async function openArchive(
  bytes: Uint8Array,
  password: string,
): Promise<{ by: string; files: string[] }> {
  return (await withSevenZip(bytes, password)) ?? withZipJs(bytes, password)
}

async function withSevenZip(bytes: Uint8Array, password: string) {
  const folder = mkdtempSync(join(tmpdir(), 'latchkey-tour-zip-'))
  try {
    const path = join(folder, 'product.zip')
    writeFileSync(path, bytes)
    const result = spawnSync('7z', ['x', `-p${password}`, `-o${join(folder, 'out')}`, '-y', path], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    if (result.error) return null
    if (result.status !== 0)
      throw new Error(
        `7z does not open the archive: ${result.stdout.slice(-300)}${result.stderr.slice(-300)}`,
      )
    const files = readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile(),
    )
    return {
      by: '7z',
      files: files.map((entry) =>
        join(entry.parentPath, entry.name).slice(join(folder, 'out').length + 1),
      ),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function withZipJs(bytes: Uint8Array, password: string) {
  const { BlobReader, ZipReader, Uint8ArrayWriter } = await import('@zip.js/zip.js')
  const reader = new ZipReader(new BlobReader(new Blob([bytes as Uint8Array<ArrayBuffer>])), {
    password,
    useWebWorkers: false,
  })
  const files: string[] = []
  for (const entry of await reader.getEntries()) {
    if (entry.directory) continue
    await entry.getData(new Uint8ArrayWriter())
    files.push(entry.filename)
  }
  await reader.close()
  return { by: 'zip.js', files }
}
