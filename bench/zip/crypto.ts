// The limit of node:crypto: AES-256 and HMAC-SHA1 over as many bytes, without a file and an archive.
// Argument: bytes.
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'

const bytes = Number(process.argv[2])
const batch = randomBytes(128 * 1024)
const RUNS_BEFORE = 3

for (let run = 0; run < RUNS_BEFORE; run++) encrypt()
const startedMs = performance.now()
encrypt()
console.log(JSON.stringify({ seconds: (performance.now() - startedMs) / 1000, bytes }))

function encrypt() {
  const cipher = createCipheriv('aes-256-ctr', randomBytes(32), randomBytes(16))
  const mac = createHmac('sha1', randomBytes(32))
  for (let done = 0; done < bytes; done += batch.length) mac.update(cipher.update(batch))
  mac.digest()
}
