import { session } from '../session/browser-session.ts'
import { createOfflineProblem, parseProblem } from './problem.ts'

const ADDRESS = '/api/library/ingest/file'

export type UploadOptions = {
  /** Replaces documents of the same name. */
  replaces: boolean
  /** The document's name, instead of the file's. */
  source?: string
  collections?: string[]
}

type Sending = UploadOptions & {
  onProgress: (sent: number) => void
  signal: AbortSignal
}

/**
 * Uploads one file, which the service stores in the background. Uses XMLHttpRequest, because fetch
 * reports no upload progress. `onProgress` gets 0 to 1.
 * @returns the job's id
 */
export async function uploadFile(file: File, sending: Sending): Promise<string> {
  const token = await session.token()
  const first = await send(file, token, sending)
  if (first.status !== 401 || token === null) return read(first)

  const next = await session.tokenAfterRefusal(token)
  return read(next === null ? first : await send(file, next, sending))
}

function send(file: File, token: string | null, sending: Sending) {
  const { replaces, source, collections = [], onProgress, signal } = sending
  return new Promise<XMLHttpRequest>((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    const form = new FormData()
    if (replaces) form.append('replace', 'source')
    if (source !== undefined) form.append('source', source)
    if (collections.length > 0) form.append('collections', collections.join(','))
    form.append('file', file)
    xhr.open('POST', ADDRESS)
    if (token !== null) xhr.setRequestHeader('authorization', `Bearer ${token}`)
    xhr.setRequestHeader('prefer', 'respond-async')
    xhr.upload.addEventListener('progress', (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total)
    })
    xhr.addEventListener('load', () => resolve(xhr))
    xhr.addEventListener('error', () => reject(createOfflineProblem()))
    xhr.addEventListener('abort', () => reject(new DOMException('Stopped', 'AbortError')))
    signal.addEventListener('abort', () => xhr.abort(), { once: true })
    xhr.send(form)
  })
}

function read(xhr: XMLHttpRequest): string {
  let body: unknown = null
  try {
    body = JSON.parse(xhr.responseText)
  } catch {
    // A proxy replied without JSON; the status is enough.
  }
  if (xhr.status >= 200 && xhr.status < 300) return (body as { job_id: string }).job_id

  const headers = new Headers()
  for (const name of ['retry-after', 'x-request-id']) {
    const value = xhr.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  throw parseProblem(xhr.status, body, headers)
}
