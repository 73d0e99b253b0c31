// Writes buyers' archives and discards the output. Arguments: mode, folder, cache, password. Other
// buyers' downloads come first, because a service runs for days and its code is compiled.

import { type Archive, planArchive, readArchive } from '#storefront/downloads/zip/archive.ts'
import { openPack, preparePack } from '#storefront/downloads/zip/pack.ts'
import { folderStore } from '#storefront/products/folder-store.ts'

const [mode = '', folder = '', cache = '', password = ''] = process.argv.slice(2)
let startedMs = performance.now()
const made = await preparePack(cache, await folderStore(folder).files('.'))
const OTHER_BUYERS = 3
let bytes = mode === 'publish' ? made.sizeBytes : 0

if (mode !== 'publish') {
  for (let buyer = 0; buyer < OTHER_BUYERS; buyer++) await send(plan(`${password}-${buyer}`))
  const archive = plan(password)
  const isResumed = mode.startsWith('resume')
  const cut = isResumed ? Math.floor(archive.sizeBytes * 0.9) : 0
  if (mode === 'resume at 90 %') await send(archive, 0, cut)
  startedMs = performance.now()
  bytes = await send(archive, cut)
}
console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000, bytes }))

/** Sends from `start` on; a connection that breaks stops reading after `max` bytes. */
async function send(archive: Archive, start = 0, max = Number.POSITIVE_INFINITY): Promise<number> {
  const source = await openPack(cache, made)
  let sent = 0
  for await (const piece of readArchive(archive, source, start)) {
    sent += piece.length
    if (sent >= max) break
  }
  await source.close()
  return sent
}

function plan(password: string): Archive {
  return planArchive({
    entries: made.entries,
    folder: 'product-1.0.0',
    modifiedAt: new Date('2026-01-01T00:00:00Z'),
    password,
    saltKey: Buffer.alloc(32, 1),
  })
}
