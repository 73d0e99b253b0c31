// The same with zip.js, streaming each file. Discards the output. Arguments: folder, password.
import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { Readable } from 'node:stream'
import { configure, ZipWriter } from '@zip.js/zip.js'

const [folder = '', password = ''] = process.argv.slice(2)
configure({ useWebWorkers: false })
const startedMs = performance.now()

let bytes = 0
const nowhere = new WritableStream<Uint8Array>({
  write(chunk) {
    bytes += chunk.length
  },
})
const writer = new ZipWriter(nowhere, { password, encryptionStrength: 3 })
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue
  const path = join(entry.parentPath, entry.name)
  await writer.add(relative(folder, path), Readable.toWeb(createReadStream(path)) as ReadableStream)
}
await writer.close()

console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000, bytes }))
