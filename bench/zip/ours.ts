// Writes buyers' archives and discards the output. Arguments: mode, folder, cache, password.

import { planArchive, readArchive } from '#storefront/downloads/zip/archive.ts'
import { openPack, preparePack } from '#storefront/downloads/zip/pack.ts'
import { folderStore } from '#storefront/products/folder-store.ts'

const [mode = '', folder = '', cache = '', password = ''] = process.argv.slice(2)
let startedMs = performance.now()
const made = await preparePack(cache, await folderStore(folder).files('.'))
let bytes = mode === 'publish' ? made.sizeBytes : 0

if (mode !== 'publish') {
  const isResumed = mode.startsWith('resume')
  const cut = isResumed ? Math.floor(plan().sizeBytes * 0.9) : 0
  if (mode === 'resume at 90 %') await send(0, cut)
  startedMs = performance.now()
  bytes = await send(cut)
}
console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000, bytes }))

/** Sends from `start` on; a connection that breaks stops reading after `max` bytes. */
async function send(start: number, max = Number.POSITIVE_INFINITY): Promise<number> {
  const source = await openPack(cache, made)
  let sent = 0
  for await (const piece of readArchive(plan(), source, start)) {
    sent += piece.length
    if (sent >= max) break
  }
  await source.close()
  return sent
}

function plan() {
  return planArchive({
    entries: made.entries,
    folder: 'product-1.0.0',
    modifiedAt: new Date('2026-01-01T00:00:00Z'),
    password,
    saltKey: Buffer.alloc(32, 1),
  })
}
