/**
 * Settings that hold several values: `RATE_LIMITS=ai=30/60,rag=60/60`. Each value can also be set
 * alone, under its own name.
 */
import { resolve } from 'node:path'
import { ConfigError, type Env, Reader } from './reader.ts'

/** By family and member, the name of the single setting. */
const FAMILIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  RATE_LIMITS: {
    general: 'RATE_LIMIT_GENERAL',
    ai: 'RATE_LIMIT_AI',
    rag: 'RATE_LIMIT_RAG',
    auth: 'RATE_LIMIT_AUTH',
    signup: 'RATE_LIMIT_SIGNUP',
    connections: 'CONNECTIONS_PER_ADDRESS',
  },
  DRAIN: {
    delay_s: 'DRAIN_DELAY_SECONDS',
    running_s: 'DRAIN_SECONDS',
  },
  RAG_MODELS: {
    follow_up: 'FOLLOW_UP_MODEL',
    rerank: 'RERANK_MODEL',
  },
  LIMITS_MB: {
    text: 'MAX_TEXT_MB',
    file: 'MAX_FILE_MB',
    ai_body: 'MAX_AI_BODY_MB',
    search_memory: 'SEARCH_MEMORY_MB',
  },
  AI_LIMITS: {
    connect_ms: 'AI_CONNECT_TIMEOUT_MS',
    headers_ms: 'AI_HEADERS_TIMEOUT_MS',
    idle_ms: 'AI_IDLE_TIMEOUT_MS',
    total_ms: 'AI_DEADLINE_MS',
    attempts: 'AI_ATTEMPTS_MAX',
  },
}

/** Names the family in an error about a value that was set there. */
export function nameFamily(env: Env, error: unknown): unknown {
  if (!(error instanceof ConfigError)) return error
  for (const [family, members] of Object.entries(FAMILIES))
    for (const [member, single] of Object.entries(members))
      if (new RegExp(`^${single}[ =:]`).test(error.message) && !env[single]?.trim())
        return new ConfigError(error.message.replace(single, `${member} of ${family}`))
  return error
}

const writeFlag = (name: string, word: string) => (env: Env) =>
  new Reader(env).flag(name, false) ? word : ''

/** Settings that stand for words of a list: how each is written there. */
const WORDS: Readonly<
  Record<string, { list: string; write: (env: Env, value: string) => string }>
> = {
  SIGNUP_ALLOWED_DOMAINS: { list: 'SIGNUP_DOMAINS', write: (_, domains) => domains },
  SIGNUP_DENIED_DOMAINS: {
    list: 'SIGNUP_DOMAINS',
    write: (_, domains) => domains.replace(/[^,\s]+/g, '!$&'),
  },
  DISPOSABLE_DOMAINS: { list: 'SIGNUP_DOMAINS', write: (_, value) => writeDisposable(value) },
  REQUIRE_VERIFIED_EMAIL: {
    list: 'REQUIRE',
    write: writeFlag('REQUIRE_VERIFIED_EMAIL', 'verified_email'),
  },
  REQUIRE_SUPERUSER_TWO_FACTOR: {
    list: 'REQUIRE',
    write: writeFlag('REQUIRE_SUPERUSER_TWO_FACTOR', 'superuser_two_factor'),
  },
  RETENTION_USAGE_DAYS: { list: 'RETENTION_DAYS', write: (_, days) => `usage=${days}` },
  RETENTION_EVENTS_DAYS: { list: 'RETENTION_DAYS', write: (_, days) => `events=${days}` },
  RETENTION_AUDIT_DAYS: { list: 'RETENTION_DAYS', write: (_, days) => `audit=${days}` },
  RETENTION_CONVERSATIONS_DAYS: {
    list: 'RETENTION_DAYS',
    write: (_, days) => `conversations=${days}`,
  },
}

const writeDisposable = (value: string): string =>
  value === 'allow' ? '' : value === 'refuse' ? '!disposable' : `!${resolve(value)}`

/** Adds the settings that stand for words of a list to that list. @throws ConfigError */
export function joinLists(env: Env): Env {
  const lists: Record<string, string> = {}
  for (const [name, { list, write }] of Object.entries(WORDS)) {
    const value = env[name]?.trim()
    if (!value) continue
    const words = [lists[list] ?? env[list]?.trim(), write(env, value)]
    lists[list] = words.filter(Boolean).join(',')
  }
  return { ...env, ...lists }
}

/** Returns the environment with a single setting for each member of a family. @throws ConfigError */
export function expandFamilies(env: Env): Env {
  const singles: Record<string, string> = {}
  for (const [family, members] of Object.entries(FAMILIES)) {
    for (const word of (env[family] ?? '').split(',').filter((text) => text.trim() !== '')) {
      const [, member = '', value = ''] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/.exec(word) ?? []
      const single = Object.hasOwn(members, member) ? members[member] : undefined
      if (single === undefined)
        throw new ConfigError(
          `${family} is wrong: expected name=value for some of ${Object.keys(members).join(', ')}, separated by commas, got '${word.trim()}'`,
        )
      if (env[single]?.trim() || singles[single] !== undefined)
        throw new ConfigError(
          env[single]?.trim()
            ? `${family} and ${single} both set ${member}: remove one`
            : `${family} sets ${member} twice`,
        )
      singles[single] = value
    }
  }
  return { ...env, ...singles }
}
