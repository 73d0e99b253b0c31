// Derives keys. The thread has the priority of others, because a buyer waits for it.
import { parentPort } from 'node:worker_threads'
import { Pbkdf2Lanes } from './pbkdf2-lanes.ts'

export type KeyTask = { password: string; salt: Uint8Array; rounds: number; sizeBytes: number }

const lanes = new Pbkdf2Lanes()
parentPort?.on('message', (tasks: KeyTask[]) => {
  parentPort?.postMessage(
    tasks.map(({ password, salt, rounds, sizeBytes }) =>
      // A copy, because the key is a part of a pooled buffer.
      Uint8Array.from(lanes.derive(password, salt, rounds, sizeBytes)),
    ),
  )
})
