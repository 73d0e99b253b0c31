// Argon2 on a worker thread whose priority is below that of the thread that serves requests.
import { argon2Sync } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Argon2Parameters } from './phc.ts'

export type HashTask = Argon2Parameters & { password: string; salt: Uint8Array; length: number }

giveWay()
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

/** On Linux a thread has a priority of its own (setpriority(2) with a thread id); elsewhere all stay equal. */
function giveWay() {
  if (process.platform !== 'linux') return
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
    // From wherever the operator has put the process; 19 is the lowest there is.
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, Math.min(19, getPriority() + 10))
  } catch {
    // A container may forbid either call; the hashes are right all the same.
  }
}
