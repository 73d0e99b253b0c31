import { spawn } from 'node:child_process'
import { argon2, randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'

/**
 * Measures Argon2id hashes per second with the service's parameters, on all cores, in a separate
 * process.
 */
export async function bareArgon2(seconds: number): Promise<number> {
  const child = spawn(process.execPath, [import.meta.filename, String(seconds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) text += chunk
  return Number(text)
}

if (process.argv[1] === import.meta.filename) console.log(await measure(Number(process.argv[2])))

async function measure(seconds: number): Promise<number> {
  const startedMs = performance.now()
  const deadlineMs = startedMs + seconds * 1_000
  let done = 0
  const runHashes = async () => {
    while (performance.now() < deadlineMs) {
      await new Promise<void>((resolve, reject) =>
        argon2(
          'argon2id',
          {
            message: 'a long enough password',
            nonce: randomBytes(16),
            parallelism: 1,
            tagLength: 32,
            memory: 19_456,
            passes: 2,
          },
          (error) => (error ? reject(error) : resolve()),
        ),
      )
      done++
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, runHashes))
  return done / ((performance.now() - startedMs) / 1_000)
}
