/**
 * The allowance of the free plan belongs to a mailbox. The first verified account that uses it claims
 * it; other accounts of the mailbox get none, even after the first account is deleted. Only keyed
 * hashes of the normalised address and of the account are stored.
 */
import { findUser } from '#identity/users.ts'
import { DAY_MS } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import './tables.ts'
import { normalizeAddress } from './trials.ts'

/** `unverified`: the account must verify its address first. `taken`: another account has claimed it. */
export type FreeClaim = 'granted' | 'unverified' | 'taken'

/** Marks in use are never removed: see retention.ts. */
const RENEWED_AFTER_MS = 30 * DAY_MS

export class FreeAllowance {
  readonly #deps: Pick<Platform, 'db' | 'clock' | 'secrets'>

  constructor(deps: Pick<Platform, 'db' | 'clock' | 'secrets'>) {
    this.#deps = deps
  }

  /** Claims the allowance of the user's mailbox, or finds an earlier claim. */
  async claim(userId: string): Promise<FreeClaim> {
    const { db, clock } = this.#deps
    const user = await findUser(db, userId)
    if (!user?.is_verified) return 'unverified'
    const mark = this.#hashMailbox(user.email)
    const holder = this.#hashHolder(userId)
    const claim = (await findClaim(db, mark)) ?? (await this.#insertClaim(mark, holder))
    if (claim.holder !== holder) return (await hasClaim(db, holder)) ? 'granted' : 'taken'
    if (clock.ms() - Date.parse(claim.used_at) > RENEWED_AFTER_MS) await this.#renewClaim(mark)
    return 'granted'
  }

  /** Returns false when another account has claimed the allowance of the user's mailbox. */
  async isAvailable(userId: string): Promise<boolean> {
    const { db } = this.#deps
    const user = await findUser(db, userId)
    if (user === null) return false
    const holder = this.#hashHolder(userId)
    const claim = await findClaim(db, this.#hashMailbox(user.email))
    return claim === null || claim.holder === holder || hasClaim(db, holder)
  }

  /** Of two accounts that claim at the same time, the first to be written gets the allowance. */
  async #insertClaim(mark: string, holder: string): Promise<Claim> {
    const { db, clock } = this.#deps
    const claim = { holder, used_at: clock.now() }
    await db
      .insertInto('free_marks')
      .values({ mark, ...claim })
      .onConflict((conflict) => conflict.column('mark').doNothing())
      .execute()
    return (await findClaim(db, mark)) ?? claim
  }

  async #renewClaim(mark: string): Promise<void> {
    const { db, clock } = this.#deps
    await db
      .updateTable('free_marks')
      .set({ used_at: clock.now() })
      .where('mark', '=', mark)
      .execute()
  }

  #hashMailbox(email: string): string {
    return this.#deps.secrets.hash('free-mailbox', normalizeAddress(email))
  }

  #hashHolder(userId: string): string {
    return this.#deps.secrets.hash('free-holder', userId)
  }
}

type Claim = { holder: string; used_at: string }

async function findClaim(db: Db, mark: string): Promise<Claim | null> {
  const row = await db
    .selectFrom('free_marks')
    .select(['holder', 'used_at'])
    .where('mark', '=', mark)
    .executeTakeFirst()
  return row ?? null
}

/** Returns whether the account claimed under an earlier address. */
async function hasClaim(db: Db, holder: string): Promise<boolean> {
  const row = await db
    .selectFrom('free_marks')
    .select('mark')
    .where('holder', '=', holder)
    .executeTakeFirst()
  return row !== undefined
}
