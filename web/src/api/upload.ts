import { session } from '../session/browser-session.ts'
import { createOfflineProblem, parseProblem } from './problem.ts'

export type UploadOptions = {
  /** Replaces documents of the same name. */
  replaces: boolean
  /** The document's name, instead of the file's. */
  source?: string
  collections?: string[]
}

export type FormUpload = {
  address: string
  form: FormData
  headers?: Record<string, string>
  /** Gets 0 to 1. */
  onProgress: (sent: number) => void
  signal: AbortSignal
}

/**
 * Uploads one file, which the service stores in the background.
 * @returns the job's id
 */
export async function uploadFile(
  file: File,
  {
    replaces,
    source,
    collections = [],
    ...sending
  }: UploadOptions & Pick<FormUpload, 'onProgress' | 'signal'>,
): Promise<string> {
  const form = new FormData()
  if (replaces) form.append('replace', 'source')
  if (source !== undefined) form.append('source', source)
  if (collections.length > 0) form.append('collections', collections.join(','))
  form.append('file', file)
  const reply = await sendForm({
    ...sending,
    address: '/api/library/ingest/file',
    form,
    headers: { prefer: 'respond-async' },
  })
  return (reply as { job_id: string }).job_id
}

/**
 * Sends a form with files. Uses XMLHttpRequest, because fetch reports no upload progress.
 * @throws ApiProblem unless the status is 2xx
 */
export async function sendForm(upload: FormUpload): Promise<unknown> {
  const token = await session.token()
  const first = await send(token, upload)
  if (first.status !== 401 || token === null) return read(first)

  const next = await session.tokenAfterRefusal(token)
  return read(next === null ? first : await send(next, upload))
}

function send(
  token: string | null,
  { address, form, headers = {}, onProgress, signal }: FormUpload,
): Promise<XMLHttpRequest> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest()
    xhr.open('POST', address)
    if (token !== null) xhr.setRequestHeader('authorization', `Bearer ${token}`)
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value)
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

function read(xhr: XMLHttpRequest): unknown {
  let body: unknown = null
  try {
    body = JSON.parse(xhr.responseText)
  } catch {
    // A proxy replied without JSON; the status is enough.
  }
  if (xhr.status >= 200 && xhr.status < 300) return body

  const headers = new Headers()
  for (const name of ['retry-after', 'x-request-id']) {
    const value = xhr.getResponseHeader(name)
    if (value !== null) headers.set(name, value)
  }
  throw parseProblem(xhr.status, body, headers)
}
