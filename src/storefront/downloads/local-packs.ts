/**
 * Compresses releases on this node before their downloads, so that no buyer waits: at the start, after
 * every change of the products, and every hour. The job of an upload does so on one node only, and
 * nodes share no cache. It also marks these packs as used, because unused ones are dropped.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tier } from '#catalogue/catalogue.ts'
import { HOUR_MS } from '#platform/clock.ts'
import type { Platform } from '#platform/platform.ts'
import type { StoredFile } from '../products/file-store.ts'
import type { ProductList } from '../products/product-list.ts'
import { listReleases, type ReleaseSource } from '../products/releases.ts'
import { prepareFiles } from './archives.ts'

type Deps = Pick<Platform, 'config' | 'clock' | 'log'> &
  Pick<ReleaseSource, 'products'> & {
    productList: Pick<ProductList, 'known' | 'listUploaded' | 'onReload'>
  }

/** Bounds the disk: beyond it, the first download of an older release on this node compresses it. */
const OLDER_BYTES_MAX = 5 * 1024 ** 3

export class LocalPacks {
  readonly #deps: Deps
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | null = null
  #isChanged = false
  #isEnding = false

  constructor(deps: Deps) {
    this.#deps = deps
  }

  /** Prepares now, after every change of the products, and every hour. */
  follow(): void {
    this.#deps.productList.onReload(() => this.#prepare())
    this.#timer = setInterval(() => this.#prepare(), HOUR_MS).unref()
    this.#prepare()
  }

  /** Starts no more packs, and waits at most `ms` for the running one. */
  async drain(ms: number): Promise<void> {
    clearInterval(this.#timer)
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
    while (this.#isChanged && !this.#isEnding) {
      this.#isChanged = false
      const listed: StoredFile[][][] = []
      for (const { tier } of this.#deps.productList.known) listed.push(await this.#list(tier))
      // Most buyers get the newest release of a product.
      await this.#pack(listed.flatMap((releases) => releases.slice(0, 1)))
      await this.#pack(limitBytes(listed.flatMap((releases) => releases.slice(1))))
    }
  }

  /** Lists the files of the releases to compress, the newest release first. */
  async #list(tier: Tier): Promise<StoredFile[][]> {
    const { products, productList, clock, log } = this.#deps
    // The samples are small, and a shop replaces them.
    if (products.isSample && productList.listUploaded(tier).length === 0) return []
    try {
      const listed: StoredFile[][] = []
      for (const { folder } of await listReleases(this.#deps, tier, clock.now()))
        listed.push(await products.files(folder))
      return listed
    } catch (error) {
      log.error({ err: error, tier }, 'the releases of a product cannot be read')
      return []
    }
  }

  /** Stops after a change of the products, because a new release comes first. */
  async #pack(releases: readonly StoredFile[][]): Promise<void> {
    const { config, log } = this.#deps
    for (const files of releases) {
      if (this.#isChanged || this.#isEnding) return
      // The first download reports errors of a product.
      await prepareFiles(config, files).catch((error) =>
        log.error({ err: error }, 'a release could not be prepared'),
      )
    }
  }
}

/** Returns the first of the releases whose files fit together. */
function limitBytes(releases: readonly StoredFile[][]): StoredFile[][] {
  let bytes = 0
  return releases.filter((files) => {
    for (const { sizeBytes } of files) bytes += sizeBytes
    return bytes <= OLDER_BYTES_MAX
  })
}
