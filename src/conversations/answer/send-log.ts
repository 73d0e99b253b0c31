/** Sends an answer's log as server-sent events: of this process, or of a row that another one writes. */
import { setTimeout as wait } from 'node:timers/promises'
import type { EventStream } from '#platform/http/sse.ts'
import type { StoreDeps } from '../conversation-store.ts'
import type { MessageKey } from '../message-store.ts'
import { readMessage } from '../messages.ts'
import { AnswerLog } from './answer-log.ts'

const POLL_MS = 500

/** Sends the events after a position until the answer ends or the client leaves. */
export async function sendLog(events: EventStream, log: AnswerLog, after: number): Promise<void> {
  let position = after
  for (;;) {
    const { changed, outcome } = log
    const read = log.readAfter(position)
    position = read.position
    if (read.text !== '') await events.write(read.text)
    if (outcome !== 'running' || events.signal.aborted) break
    await changed
  }
  events.end()
}

/** Follows a row. A row that vanishes ends the stream. `signal`: the process closes. */
export async function followRow(
  deps: Pick<StoreDeps, 'db' | 'secrets'>,
  events: Pick<EventStream, 'signal' | 'write' | 'end'>,
  key: MessageKey,
  after: number,
  signal: AbortSignal,
): Promise<void> {
  const over = AbortSignal.any([events.signal, signal])
  let position = after
  while (!over.aborted) {
    const message = await readMessage(deps, key)
    if (message === null) break
    const read = AnswerLog.restore(message, message.outcome).readAfter(position)
    position = read.position
    if (read.text !== '') await events.write(read.text)
    if (message.outcome !== 'running') break
    await wait(POLL_MS, undefined, { signal: over }).catch(() => {})
  }
  events.end()
}
