/**
 * Compresses uploaded releases on this node when they are published, so that its first buyer does not
 * wait. The job of an upload does so on one node only, and nodes share no cache.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import type { ProductDeps } from '../products/releases.ts'
import { prepareRelease } from './archives.ts'

type Deps = Pick<Platform, 'config' | 'clock' | 'log'> & ProductDeps

export class LocalPacks {
  readonly #deps: Deps
  #running: Promise<void> | null = null
  #isChanged = false
  #isEnding = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Prepares now, and after every change of the products. */
  follow(): void {
    this.#deps.productList.onReload(() => this.#prepare())
    this.#prepare()
  }

  /** Starts no more packs, and waits at most `ms` for the running one. */
  async drain(ms: number): Promise<void> {
    this.#isEnding = true
    if (this.#running) await Promise.race([this.#running, sleep(ms, undefined, { ref: false })])
  }

  #prepare(): void {
    this.#isChanged = true
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  async #run(): Promise<void> {
    while (this.#isChanged) {
      this.#isChanged = false
      for (const { tier } of this.#deps.productList.known) await this.#prepareTier(tier)
    }
  }

  /** The first download reports errors of a product. */
  async #prepareTier(tier: Tier): Promise<void> {
    const { log, productList } = this.#deps
    const isPublished = productList.listUploaded(tier).some(({ status }) => status === 'published')
    if (this.#isEnding || !isPublished) return
    await prepareRelease(this.#deps, tier).catch((error) =>
      log.error({ err: error, tier }, 'a release could not be prepared'),
    )
  }
}
