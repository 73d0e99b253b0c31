/**
 * The products that the shop sells now, and their uploaded releases. The catalogue's file wins;
 * otherwise they are the rows that superusers edit, or the built-in products until the first edit.
 * Every node keeps a copy in memory. It reads the copy again after a message of the bus, and within
 * five seconds after another process changed the revision.
 */
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import type { Platform } from '#platform/platform.ts'
import { seldom } from '#platform/telemetry/log.ts'
import { readList, readRevision, type StoredList } from './product-store.ts'
import type { UploadedRelease } from './release-store.ts'

export const PRODUCTS_CHANGED = 'storefront.products-changed'
/** Commands beside a service on SQLite send no message. */
const LOOK_MS = 5_000

/** Passed to what shows or sells products. */
export type Listed = { productList: ProductList }

type ListDeps = Pick<Platform, 'config' | 'db'>

export class ProductList {
  readonly #deps: ListDeps
  #stored: StoredList | null = null
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> = Promise.resolve()
  #looking: Promise<void> | null = null
  #onReload = () => {}

  private constructor(deps: ListDeps) {
    this.#deps = deps
  }

  /** Reads the products once, for commands. */
  static async read(deps: ListDeps): Promise<ProductList> {
    const list = new ProductList(deps)
    await list.reload()
    return list
  }

  /** Reads the products and follows their changes until `close`. */
  static async open(deps: ListDeps & Pick<Platform, 'bus' | 'log'>): Promise<ProductList> {
    const list = await ProductList.read(deps)
    list.#follow(deps)
    return list
  }

  /** True when the catalogue's file names the products, so that nobody can edit them. */
  get isFixed(): boolean {
    return this.#deps.config.catalogue.productsPath !== null
  }

  /** True until a file or a superuser names other products. */
  get isBuiltIn(): boolean {
    return !this.isFixed && !this.#stored?.products
  }

  /** The products on sale, in display order. */
  get sold(): readonly CatalogueProduct[] {
    const products = this.isFixed ? null : this.#stored?.products
    return products?.sold ?? this.#deps.config.catalogue.products
  }

  findSold(tier: Tier): CatalogueProduct | undefined {
    return this.sold.find((product) => product.tier === tier)
  }

  /** All products that buyers may have: those on sale, and those that a superuser retired. */
  get known(): readonly CatalogueProduct[] {
    const retired = this.isFixed ? [] : (this.#stored?.products?.retired ?? [])
    return [...this.sold, ...retired]
  }

  /** Finds a product for its buyers: also one that is no longer sold, if a superuser retired it. */
  find(tier: Tier): CatalogueProduct | undefined {
    return this.known.find((product) => product.tier === tier)
  }

  /** Like `find`. */
  findBySlug(slug: string): CatalogueProduct | undefined {
    return this.known.find((product) => product.slug === slug)
  }

  /** Lists the products of a bundle that are sold; none for another product. */
  listMembers({ bundle }: Pick<CatalogueProduct, 'bundle'>): CatalogueProduct[] {
    return bundle.flatMap((slug) => this.sold.find((product) => product.slug === slug) ?? [])
  }

  /** A merchant of record rejects products without a tax code. It never sees free ones. */
  canCharge(tier: Tier): boolean {
    const product = this.findSold(tier)
    const { by } = this.#deps.config.processor.tax
    if (!product) return false
    return product.free !== null || by !== 'managed' || product.taxCode !== null
  }

  /** Returns the product's name, or its tier when the catalogue dropped it. */
  getName(tier: Tier): string {
    return this.find(tier)?.name ?? tier
  }

  /** Returns the uploaded releases of a product: drafts and withdrawn ones, too. */
  listUploaded(tier: Tier): readonly UploadedRelease[] {
    return this.#stored?.releases.filter((release) => release.tier === tier) ?? []
  }

  /** Resolves when every change that was committed before the call is in effect. */
  reload(): Promise<void> {
    // Reads follow each other, so that a slow one cannot undo a newer one.
    const read = this.#reading.then(async () => {
      this.#stored = await readList(this.#deps.db)
      this.#onReload()
    })
    this.#reading = read.catch(() => {})
    return read
  }

  /** Calls the listener after each reading. */
  onReload(listener: () => void): void {
    this.#onReload = listener
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
    await this.#reading
  }

  #follow({ bus, log }: Pick<Platform, 'bus' | 'log'>): void {
    const say = seldom((details, message) => log.warn(details, message))
    const report = (err: unknown) =>
      say({ err }, 'the products were not read; the last known ones are sold')
    const reload = () => void this.reload().catch(report)
    bus.on(PRODUCTS_CHANGED, reload)
    bus.onGap(reload)
    // Starts no second look while the database does not answer.
    const look = () => {
      this.#looking ??= this.#look()
        .catch(report)
        .finally(() => {
          this.#looking = null
        })
    }
    this.#timer = setInterval(look, LOOK_MS).unref()
  }

  async #look(): Promise<void> {
    const revision = await readRevision(this.#deps.db)
    if (revision !== (this.#stored?.revision ?? null)) await this.reload()
  }
}
