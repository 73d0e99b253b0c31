/** Checks the keys of model vendors by listing each vendor's models, which costs nothing. */

import type { Config } from '#config/config.ts'
import type { Dialect } from '#models/catalogue.ts'
import { ASK_TIMEOUT_MS, createLines, type Line } from './line.ts'

type Vendor = Config['ai']['vendors'][string]
type Endpoint = Vendor['endpoints'][number]

export async function checkVendors({ ai }: Pick<Config, 'ai'>): Promise<Line[]> {
  return Promise.all(Object.values(ai.vendors).map(checkVendor))
}

async function checkVendor(vendor: Vendor): Promise<Line> {
  const { keySetting, apiKey, sandboxed, endpoints, missingKeys, dialect } = vendor
  const { ok, off, wrong, sandbox } = createLines(`Model ${vendor.name}`)
  if (sandboxed) return sandbox(`no ${keySetting}; answers with quotations`)
  if (apiKey === null) return off(`${keySetting} is not set`)
  const results = await Promise.all(endpoints.map((endpoint) => ask(dialect, endpoint)))
  const says = results.map((one, i) => {
    const endpoint = endpoints[i] as Endpoint
    return `${endpoint.name === vendor.name ? '' : `${endpoint.name} `}${endpoint.baseUrl}${one.says}`
  })
  const isWell = results.every((one) => one.isWell)
  const missing = missingKeys.map((setting) => `${setting} is not set`)
  return (isWell ? ok : wrong)([...says, ...missing].join(', '))
}

const LISTS: Record<
  Dialect,
  { path: string; headers?: Record<string, string>; key: (key: string) => [string, string] }
> = {
  openai: { path: '/models', key: (key) => ['authorization', `Bearer ${key}`] },
  anthropic: {
    path: '/v1/models?limit=1',
    headers: { 'anthropic-version': '2023-06-01' },
    key: (key) => ['x-api-key', key],
  },
  gemini: { path: '/v1beta/models?pageSize=1', key: (key) => ['x-goog-api-key', key] },
}

/** Valid in a header. For other characters, fetch's error would contain the whole key. */
const SENDABLE = /^[\x21-\x7e]+$/

type Answer = { isWell: boolean; says: string }

const well = (says: string): Answer => ({ isWell: true, says })
const ill = (says: string): Answer => ({ isWell: false, says })

async function ask(dialect: Dialect, { baseUrl, apiKey }: Endpoint): Promise<Answer> {
  if (!SENDABLE.test(apiKey))
    return ill(' was not called: its key contains spaces, line breaks or invalid characters')
  try {
    const status = await listed(dialect, baseUrl, apiKey)
    if (status === 200) {
      const isOpenToAll = (await listed(dialect, baseUrl, null).catch(() => null)) === 200
      return well(isOpenToAll ? ' (lists its models without a key, so the key was not tested)' : '')
    }
    // A vendor that limits the rate has accepted the key.
    if (status === 429) return well(' (rate-limited at the moment)')
    if (status === 404 || status === 405)
      return well(' (lists no models, so the key was not tested)')
    // Gemini answers 400 for an unknown key.
    const isKey = status === 401 || status === 403 || (status === 400 && dialect === 'gemini')
    return ill(isKey ? ` rejects the key (${status})` : ` answered ${status}`)
  } catch (error) {
    const { cause, message } = error as Error
    const why = cause instanceof Error && cause.message !== '' ? cause.message : message
    return ill(` cannot be reached: ${why}`)
  }
}

/** Lists the models and returns the reply's status. */
async function listed(dialect: Dialect, baseUrl: string, apiKey: string | null): Promise<number> {
  const { path, headers, key } = LISTS[dialect]
  const { status, body } = await fetch(baseUrl + path, {
    headers:
      apiKey === null ? { ...headers } : { ...headers, ...Object.fromEntries([key(apiKey)]) },
    signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    redirect: 'manual',
  })
  await body?.cancel()
  return status
}
