// The reply cache: encrypted replies, found by an HMAC of the request among the user's rows. Sizes
// are bounded per reply, per user and in total; the oldest are removed first.
// The trap: a sweep enforces the total, so new replies may exceed it until the next sweep.

import { sql } from 'kysely'
import { MINUTE_MS, plus, SECOND_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { deleteSlice, inSlices, SLICE_ROWS } from '#platform/db/slices.ts'
import { isRawJson } from '#platform/exact-json.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import './tables.ts'

export type CachedReply = { text: string; vendor: string; model: string; ageSeconds: number }

export type ReplyCache = {
  readonly limits: CacheLimits
  /** `request`: everything that determines the answer, as JSON; key order does not matter. */
  computeKey(userId: string, request: unknown): string
  /** Returns null without a reply, or if it is older than `seconds`. */
  find(userId: string, key: string, seconds: number): Promise<CachedReply | null>
  /** Never rejects: the reply is sent even when it cannot be stored. */
  keep(
    userId: string,
    key: string,
    seconds: number,
    reply: Omit<CachedReply, 'ageSeconds'>,
  ): Promise<void>
  /** Removes expired replies, and the oldest beyond the total bound. */
  sweep(signal?: AbortSignal): Promise<void>
}

/** Bytes. `reply` is measured before encryption, which adds a third. */
export type CacheLimits = { reply: number; user: number; userReplies: number; all: number }

const LIMITS: CacheLimits = { reply: 1 << 20, user: 32 << 20, userReplies: 1_000, all: 1 << 30 }
const SWEEP_MS = 10 * MINUTE_MS
const PURPOSE = 'ai/reply-cache'

type Deps = Pick<Platform, 'db' | 'clock' | 'log' | 'secrets'>

export function createReplyCache(deps: Deps, limits: CacheLimits = LIMITS): ReplyCache {
  const { db, clock, secrets } = deps
  const warnSeldom = seldom((details, message) => deps.log.warn(details, message))
  let writtenBytes = 0

  const sweep = async (signal?: AbortSignal) => {
    writtenBytes = 0
    await removeExpired(deps, signal)
    await removeOldest(db, limits.all, signal)
  }

  return {
    limits,
    computeKey: (userId, request) =>
      secrets.hash(PURPOSE, `${userId}\n${toCanonicalJson(request)}`),
    async find(userId, key, seconds) {
      try {
        const row = await db
          .selectFrom('ai_replies')
          .select(['sealed', 'vendor', 'model', 'created_at'])
          .where('user_id', '=', userId)
          .where('key', '=', key)
          .where('expires_at', '>', clock.now())
          .where('created_at', '>', plus(clock.now(), -seconds * SECOND_MS))
          .executeTakeFirst()
        if (row === undefined) return null
        const { sealed, vendor, model, created_at: createdAt } = row
        const ageSeconds = Math.max(0, Math.floor((clock.ms() - Date.parse(createdAt)) / SECOND_MS))
        return { text: secrets.open(PURPOSE, sealed), vendor, model, ageSeconds }
      } catch (err) {
        warnSeldom({ err }, 'the cache of replies could not be read')
        return null
      }
    },
    async keep(userId, key, seconds, { text, vendor, model }) {
      if (Buffer.byteLength(text) > limits.reply) return
      const sealed = secrets.seal(PURPOSE, text)
      const now = clock.now()
      const row = {
        created_at: now,
        expires_at: plus(now, seconds * SECOND_MS),
        bytes: sealed.length,
        vendor,
        model: model.replaceAll('\0', '').slice(0, 200),
        sealed,
      }
      try {
        await db
          .insertInto('ai_replies')
          .values({ user_id: userId, key, ...row })
          .onConflict((conflict) => conflict.columns(['user_id', 'key']).doUpdateSet(row))
          .execute()
        await trimUser(deps, userId, limits)
        writtenBytes += sealed.length
        if (writtenBytes > limits.all / 16) await sweep()
      } catch (err) {
        warnSeldom({ err }, 'a reply could not be kept in the cache')
      }
    },
    sweep,
  }
}

/** Sweeps now and every ten minutes. Returns a function that stops it. */
export function startSweeping({ log }: Pick<Platform, 'log'>, cache: ReplyCache): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const run = () =>
    void cache.sweep(signal).catch((err) => {
      if (!signal.aborted) log.warn({ err }, 'old replies were not removed from the cache')
    })
  const timer = setInterval(run, SWEEP_MS).unref()
  run()
  return () => {
    stopping.abort()
    clearInterval(timer)
  }
}

export async function eraseReplies(tx: Db, userId: string): Promise<void> {
  await tx.deleteFrom('ai_replies').where('user_id', '=', userId).execute()
}

async function trimUser(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  userId: string,
  limits: CacheLimits,
): Promise<void> {
  const userRows = db.selectFrom('ai_replies').where('user_id', '=', userId)
  const held = await userRows
    .select((e) => [e.fn.countAll().as('replies'), e.fn.sum('bytes').as('bytes')])
    .executeTakeFirstOrThrow()
  let replies = Number(held.replies)
  let bytes = Number(held.bytes)
  if (replies <= limits.userReplies && bytes <= limits.user) return
  await db
    .deleteFrom('ai_replies')
    .where('user_id', '=', userId)
    .where('expires_at', '<=', clock.now())
    .execute()
  const removedKeys: string[] = []
  for (const row of await userRows
    .select(['key', 'bytes'])
    .orderBy('created_at')
    .orderBy('key')
    .execute()) {
    if (replies <= limits.userReplies && bytes <= limits.user) break
    removedKeys.push(row.key)
    replies--
    bytes -= Number(row.bytes)
  }
  if (removedKeys.length === 0) return
  await db
    .deleteFrom('ai_replies')
    .where('user_id', '=', userId)
    .where('key', 'in', removedKeys)
    .execute()
}

async function removeExpired(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  signal?: AbortSignal,
): Promise<void> {
  const now = clock.now()
  await inSlices(
    () => deleteSlice(db, 'ai_replies', ['user_id', 'key'], sql`expires_at <= ${now}`),
    signal,
  )
}

async function removeOldest(db: Db, bytesMax: number, signal?: AbortSignal): Promise<void> {
  const sum = await db
    .selectFrom('ai_replies')
    .select((e) => e.fn.sum('bytes').as('bytes'))
    .executeTakeFirst()
  let bytes = Number(sum?.bytes ?? 0)
  while (bytes > bytesMax && !signal?.aborted) {
    const oldest = await db
      .selectFrom('ai_replies')
      .select(['created_at', 'bytes'])
      .orderBy('created_at')
      .limit(SLICE_ROWS)
      .execute()
    let last: string | null = null
    for (const row of oldest) {
      if (bytes <= bytesMax) break
      last = row.created_at
      bytes -= Number(row.bytes)
    }
    if (last === null) return
    await db.deleteFrom('ai_replies').where('created_at', '<=', last).execute()
  }
}

/** Writes JSON with sorted keys. */
function toCanonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null || isRawJson(value))
    return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`
  const object = value as Record<string, unknown>
  const members = Object.keys(object)
    .sort()
    .flatMap((key) =>
      object[key] === undefined ? [] : [`${JSON.stringify(key)}:${toCanonicalJson(object[key])}`],
    )
  return `{${members.join(',')}}`
}
