// Argon2 on a worker thread whose priority is below that of the thread that serves requests.
import { argon2Sync } from 'node:crypto'
import { parentPort } from 'node:worker_threads'
import { lowerThreadPriority } from '#platform/thread-priority.ts'
import type { Argon2Parameters } from './phc.ts'

export type HashTask = Argon2Parameters & { password: string; salt: Uint8Array; length: number }

lowerThreadPriority()
parentPort?.on('message', ({ password, salt, length, memory, passes, parallelism }: HashTask) => {
  const hash = argon2Sync('argon2id', {
    message: password,
    nonce: salt,
    tagLength: length,
    memory,
    passes,
    parallelism,
  })
  parentPort?.postMessage(hash)
})
