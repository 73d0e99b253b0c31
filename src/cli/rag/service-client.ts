/** HTTP client of the service: waits after 429 and 503, and retries requests without a reply. */
import { setTimeout as sleep } from 'node:timers/promises'

export type Answer = {
  status: number
  headers: Headers
  text: string
  body: Record<string, unknown>
}
export type ServiceClient = ReturnType<typeof createClient>

const LOST_MAX = 5
const WAITS_MAX = 30
const WAIT_SECONDS_MAX = 900

/** `body` is built again for each attempt. */
type Request = { method?: string; headers?: Record<string, string>; body?: () => Promise<FormData> }

export function createClient(
  { url, key }: { url: string; key: string },
  { tell, wait = sleep }: { tell(line: string): void; wait?: (ms: number) => Promise<unknown> },
) {
  /** @throws Error when the service is unreachable, rejects the key, or keeps asking to wait */
  return async function ask(
    path: string,
    { method = 'GET', headers = {}, body }: Request = {},
  ): Promise<Answer> {
    for (let lost = 0, waits = 0; ; ) {
      let answer: Answer
      try {
        const init = { method, headers: { authorization: `Bearer ${key}`, ...headers } }
        answer = await read(
          await fetch(`${url}${path}`, body ? { ...init, body: await body() } : init),
        )
      } catch (error) {
        if (++lost > LOST_MAX) throw new Error(`${url} cannot be reached: ${describeReason(error)}`)
        await wait(1_000 * 2 ** lost)
        continue
      }
      const seconds = readDelay(answer)
      if (seconds === null) return answer
      if (++waits > WAITS_MAX)
        throw new Error(`the service still asks to wait: ${readDetail(answer)}; try again later`)
      if (seconds > WAIT_SECONDS_MAX)
        throw new Error(`${readDetail(answer)}; try again in ${Math.ceil(seconds / 60)} minutes`)
      if (seconds >= 5) tell(`… ${readDetail(answer)}; waiting ${seconds} s`)
      await wait(1_000 * seconds)
    }
  }
}

/**
 * Returns the seconds to wait before a retry; null when the answer is final. @throws Error for a
 * refused key
 */
function readDelay(answer: Answer): number | null {
  const { status, headers } = answer
  if (status === 401)
    throw new Error(
      'the service rejects the key: check whether it is revoked, expired, or from another service',
    )
  if (status === 403) throw new Error(`the service rejects the request: ${readDetail(answer)}`)
  if (status !== 429 && status !== 503) return null
  return Number(headers.get('retry-after')) || 5
}

async function read(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : {},
  }
}

/** Returns the service's message of a rejection. */
export function readDetail({ status, body }: Answer): string {
  const { detail } = body
  if (typeof detail === 'string') return detail
  const issues = Array.isArray(detail) ? (detail as { msg?: string }[]) : []
  return issues.map(({ msg }) => msg).join(' ') || `status ${status}`
}

const describeReason = (error: unknown) =>
  ((error as { cause?: Error }).cause?.message || (error as Error).message) ?? String(error)
