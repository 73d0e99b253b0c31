// Sends one request of the playground with the user's session, and reads the reply.
import { createParser } from 'eventsource-parser'
import { request } from '../api/client.ts'
import { ApiProblem } from '../api/problem.ts'
import { endRun, LOST, type Run, takeEvent } from './run.ts'

/**
 * Resolves to the ended run. Calls `onChange` once for each part that the network delivers. Never
 * throws.
 */
export async function sendRun(
  start: Run,
  signal: AbortSignal,
  onChange: (run: Run) => void,
): Promise<Run> {
  const startedAt = performance.now()
  const readMs = () => Math.round(performance.now() - startedAt)
  let run = start
  try {
    const response = await request('POST', '/v1/chat/completions', { body: run.body, signal })
    run = {
      ...run,
      requestId: response.headers.get('x-request-id'),
      leftOut: response.headers.get('x-latchkey-left-out'),
    }
    if (run.body.stream) {
      for await (const events of readEvents(response)) {
        for (const data of events) run = takeEvent(run, data, readMs())
        onChange(run)
      }
    } else run = takeEvent(run, await response.text(), readMs())
    return endRun(run, readMs())
  } catch (error) {
    const totalMs = readMs()
    if (signal.aborted) return { ...run, phase: 'stopped', totalMs }
    return { ...run, phase: 'failed', totalMs, ...describeFailure(error, run) }
  }
}

/** Yields the events of each network part together, so that a page renders once per part. */
async function* readEvents(response: Response): AsyncGenerator<string[]> {
  let events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => events.push(data) })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const part = await reader?.read()
    if (part === undefined || part.done) return
    parser.feed(part.value)
    if (events.length > 0) yield events
    events = []
  }
}

function describeFailure(error: unknown, run: Run): Pick<Run, 'problem' | 'requestId'> {
  if (!(error instanceof ApiProblem)) return { problem: LOST, requestId: run.requestId }
  const { status, code, message, requestId } = error
  return {
    problem: { status: status === 0 ? null : status, code, message },
    requestId: requestId ?? run.requestId,
  }
}
