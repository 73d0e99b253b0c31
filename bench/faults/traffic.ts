// Load of users during a fault, with every acknowledgement recorded, and the inspection that each
// acknowledged write is stored exactly once.
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { signUp } from '../lib/service.ts'

export type Query = <R extends Record<string, unknown>>(
  text: string,
  values?: unknown[],
) => Promise<R[]>

export type Journal = {
  answers: Map<number, number>
  /** Requests without an answer within `ANSWER_MS`, or with a broken connection. */
  unanswered: string[]
  /** Replies that no outage explains: 500, 401, 404. */
  wrong: string[]
  slowestMs: number
  registered: string[]
  documents: string[]
  /** Each upload must be returned unchanged. */
  uploads: { name: string; path: string }[]
  /** Ids of calls with a complete answer. */
  calls: string[]
}

/** A statement waits up to 12 s for a frozen server. */
const ANSWER_MS = 20_000
/** Sign-ups, texts, chats, uploads, and two kinds of reads. */
const KINDS = 6
const UPLOAD_TEXTS = 100
const TEXT = 'A sentence about nothing in particular, which somebody may look for. '.repeat(20)

export type Traffic = {
  journal: Journal
  /**
   * Returns the start time of the first success of each kind; null when one kind did not start in
   * time.
   */
  untilAllWork(withinMs: number): Promise<number | null>
  stop(): Promise<void>
}

export type Place = { urls: () => string[]; query: Query }

/** Creates a customer of the paid plan for calls and documents. */
export async function createCustomer({
  urls,
  query,
}: Place): Promise<{ token: string; userId: string }> {
  const person = await signUp(
    urls()[0] ?? '',
    `payer-${randomBytes(4).toString('hex')}@example.com`,
  )
  await query(
    "update users set subscription_tier = 'pro', subscription_status = 'active' where id = $1",
    [person.userId],
  )
  await sleep(1_100)
  return person
}

/** Starts `clients` users that send requests without a pause. */
export function startTraffic(place: Place, token: string, clients: number): Traffic {
  const journal: Journal = {
    answers: new Map(),
    unanswered: [],
    wrong: [],
    slowestMs: 0,
    registered: [],
    documents: [],
    uploads: [],
    calls: [],
  }
  let isOver = false
  const running = Array.from({ length: clients }, async (_, client) => {
    for (let turn = client; !isOver; turn++) await act(turn)
  })

  async function act(turn: number): Promise<boolean> {
    const urls = place.urls()
    const round = Math.floor(turn / KINDS)
    const url = urls[(turn + round) % urls.length] ?? ''
    switch (turn % KINDS) {
      case 0: {
        const email = `fault-${randomBytes(8).toString('hex')}@example.com`
        const reply = await ask(url, 'POST', '/api/auth/register', {
          email,
          password: 'a long enough password',
        })
        if (reply?.status === 201) journal.registered.push(email)
        return reply?.status === 201
      }
      case 1: {
        const content = `${randomBytes(8).toString('hex')} ${TEXT}`
        const reply = await ask(url, 'POST', '/api/rag/ingest/text', { content })
        if (reply?.status === 200) journal.documents.push(readDocumentId(reply.text))
        return reply?.status === 200
      }
      case 2: {
        const stream = round % 2 === 0
        const body = { messages: [{ role: 'user', content: 'Say something' }], stream }
        const reply = await ask(url, 'POST', '/api/ai/chat', body)
        const isWhole = reply?.status === 200 && (!stream || reply.text.includes('[DONE]'))
        if (reply && isWhole) journal.calls.push(reply.id)
        return isWhole
      }
      case 3: {
        const form = new FormData()
        const name = `${randomBytes(8).toString('hex')}.txt`
        form.append('file', new Blob([buildUpload(name)]), name)
        const reply = await ask(url, 'POST', '/api/rag/ingest/file', form)
        if (reply?.status !== 200) return false
        journal.documents.push(readDocumentId(reply.text))
        journal.uploads.push({ name, path: `/api/rag/documents/${readChunkId(reply.text)}/file` })
        return true
      }
      default:
        return (
          (await ask(url, 'GET', turn % 2 === 0 ? '/api/users/me/sessions' : '/api/auth/me'))
            ?.status === 200
        )
    }
  }

  async function ask(url: string, method: string, path: string, body?: object | FormData) {
    const begun = performance.now()
    try {
      const reply = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(isJson(body) ? { 'content-type': 'application/json' } : {}),
        },
        ...(body ? { body: isJson(body) ? JSON.stringify(body) : (body as FormData) } : {}),
        signal: AbortSignal.timeout(ANSWER_MS),
      })
      const text = await reply.text()
      const { status } = reply
      journal.answers.set(status, (journal.answers.get(status) ?? 0) + 1)
      if (status >= 400 && status !== 503)
        journal.wrong.push(`${method} ${path}: ${status} ${text.slice(0, 200)}`)
      if (status === 503) await sleep(50)
      return { status, text, id: reply.headers.get('x-request-id') ?? '' }
    } catch (error) {
      if (!isOver)
        journal.unanswered.push(
          `${method} ${path}: ${(error as Error).message} ${String((error as Error).cause ?? '')}`,
        )
      await sleep(50)
      return null
    } finally {
      journal.slowestMs = Math.max(journal.slowestMs, performance.now() - begun)
    }
  }

  return {
    journal,
    async untilAllWork(withinMs) {
      const begun = performance.now()
      const began = await Promise.all(
        Array.from({ length: KINDS }, async (_, turn) => {
          for (;;) {
            const afterMs = performance.now() - begun
            if (afterMs > withinMs) return null
            if (await act(turn)) return afterMs
          }
        }),
      )
      return began.includes(null) ? null : Math.round(Math.max(...(began as number[])))
    },
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

const isJson = (body: object | undefined) => body !== undefined && !(body instanceof FormData)

const readChunkId = (reply: string): string => (JSON.parse(reply).document_ids as string[])[0] ?? ''
/** Removes the chunk's number. */
const readDocumentId = (reply: string): string => readChunkId(reply).split('_')[0] ?? ''

const buildUpload = (name: string): string => `${name} ${TEXT.repeat(UPLOAD_TEXTS)}`

/** Returns lost and duplicate writes. */
export async function inspect(
  { query, urls }: Place,
  { registered, documents, uploads, calls }: Journal,
  token: string,
): Promise<string[]> {
  const users = await query<{ email: string }>("select email from users where email like 'fault-%'")
  const emails = new Set(users.map(({ email }) => email))
  const texts = await query<{ id: string }>('select id from rag_documents')
  const there = new Set(texts.map(({ id }) => String(id).split('_')[0]))
  const records = await countRecords(query, calls)
  return [
    ...registered
      .filter((email) => !emails.has(email))
      .map((email) => `the account ${email} is lost`),
    ...documents.filter((id) => !there.has(id)).map((id) => `the document ${id} is lost`),
    ...(await changedUploads(urls()[0] ?? '', token, uploads)),
    ...calls.flatMap((id) => {
      const count = records.get(id) ?? 0
      return count === 1 ? [] : [`the call ${id} is recorded ${count} times`]
    }),
  ]
}

async function changedUploads(
  url: string,
  token: string,
  uploads: Journal['uploads'],
): Promise<string[]> {
  const changed: string[] = []
  for (const { name, path } of uploads) {
    const reply = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
    const text = await reply.text()
    if (text !== buildUpload(name))
      changed.push(`the upload ${name} is returned as ${reply.status}, ${text.length} characters`)
  }
  return changed
}

/** Records written during an outage arrive from the spool a moment later. */
async function countRecords(query: Query, calls: string[]): Promise<Map<string, number>> {
  for (let tries = 0; ; tries++) {
    const rows = await query<{ id: string; count: string }>(
      'select request_id as id, count(*) as count from usage_records where request_id is not null group by request_id',
    )
    const counts = new Map(rows.map(({ id, count }) => [id, Number(count)]))
    if (tries === 20 || calls.every((id) => counts.has(id))) return counts
    await sleep(500)
  }
}
