/**
 * The stored brand. Every process follows it: it reads the row again after a message of the bus,
 * and within five seconds after another process changed the revision.
 */
import './tables.ts'
import { recordAudit } from '#audit/audit.ts'
import type { Instant } from '#platform/clock.ts'
import { afterCommit, transaction } from '#platform/db/db.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import type { BrandForm } from './form.ts'

export const BRAND_CHANGED = 'brand.changed'
const LOOK_MS = 5_000
const NUMBER = 1

type StoreDeps = Pick<Platform, 'config' | 'db'>

export class StoredBrand {
  readonly #deps: StoreDeps
  #revision: number | null = null
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null

  constructor(deps: StoreDeps) {
    this.#deps = deps
  }

  /** Saves the form for all nodes, and shows it in this process when it returns. */
  async save(
    { clock, bus }: Pick<Platform, 'clock' | 'bus'>,
    actorId: string,
    form: BrandForm,
  ): Promise<void> {
    await transaction(this.#deps.db, async (tx) => {
      const row = { form_json: form, changed_at: clock.now() }
      await tx
        .insertInto('brands')
        .values({ number: NUMBER, revision: 1, ...row })
        .onConflict((conflict) =>
          conflict.column('number').doUpdateSet(({ eb, ref }) => ({
            ...row,
            revision: eb(ref('brands.revision'), '+', 1),
          })),
        )
        .execute()
      await recordAudit(tx, { actorId, action: 'brand.changed', at: row.changed_at })
      afterCommit(tx, () => bus.publish(BRAND_CHANGED, {}))
    })
    await this.reload()
  }

  /** Null before a superuser saved a brand. */
  async findChangedAt(): Promise<Instant | null> {
    const row = await this.#deps.db.selectFrom('brands').select('changed_at').executeTakeFirst()
    return row?.changed_at ?? null
  }

  /** Resolves when every change that was committed before the call is shown. */
  reload(): Promise<void> {
    // Reads follow each other, so that a slow one cannot undo a newer one.
    const read = this.#reading.then(() => this.#read())
    this.#reading = read.catch(() => {})
    return read
  }

  /** Follows changes until `close`. */
  follow({ bus, log }: Pick<Platform, 'bus' | 'log'>): void {
    const warn = seldom((details, message) => log.warn(details, message))
    const report = (err: unknown) =>
      warn({ err }, 'the brand was not read; the last known one is shown')
    const reload = () => void this.reload().catch(report)
    bus.on(BRAND_CHANGED, reload)
    bus.onGap(reload)
    // Starts no second look while the database does not answer.
    this.#timer = setInterval(() => {
      this.#looking ??= this.#look()
        .catch(report)
        .finally(() => {
          this.#looking = null
        })
    }, LOOK_MS).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#reading
  }

  async #look(): Promise<void> {
    const row = await this.#deps.db.selectFrom('brands').select('revision').executeTakeFirst()
    if (row && row.revision !== this.#revision) await this.reload()
  }

  async #read(): Promise<void> {
    const { config, db } = this.#deps
    if (config.brand.file !== null) return
    const row = await db.selectFrom('brands').select(['revision', 'form_json']).executeTakeFirst()
    if (!row || row.revision === this.#revision) return
    this.#revision = row.revision
    config.brand.replace(row.form_json)
  }
}
