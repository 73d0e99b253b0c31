// Writes one buyer's archive and discards the output. Arguments: mode, folder, cache, password.

import { planArchive, readArchive } from '#storefront/downloads/zip/archive.ts'
import { openPack, preparePack } from '#storefront/downloads/zip/pack.ts'
import { folderStore } from '#storefront/products/folder-store.ts'

const [mode = '', folder = '', cache = '', password = ''] = process.argv.slice(2)
let startedMs = performance.now()

const made = await preparePack(cache, await folderStore(folder).files('.'))
const archive = planArchive({
  entries: made.entries,
  folder: 'product-1.0.0',
  modifiedAt: new Date('2026-01-01T00:00:00Z'),
  password,
  saltKey: Buffer.alloc(32, 1),
})
const source = await openPack(cache, made)
let bytes = 0
const cut = Math.floor(archive.sizeBytes * 0.9)
if (mode === 'resume at 90 %') {
  let sent = 0
  for await (const piece of readArchive(archive, source)) {
    sent += piece.length
    if (sent >= cut) break
  }
  startedMs = performance.now()
}
for await (const piece of readArchive(archive, source, mode.startsWith('resume') ? cut : 0))
  bytes += piece.length
await source.close()

console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000, bytes }))
