/**
 * The brand that this process shows now. `config.brand` is this object, because everything that
 * speaks to customers has the settings already. The room replaces its form when a superuser saves
 * another brand, so keep no copy of a value beyond a request.
 */
import { createHash } from 'node:crypto'
import { DEFAULT_LOCALE, type Locale } from '#platform/locale.ts'
import type { BrandForm } from './form.ts'
import { type Image, readImage } from './images.ts'
import type { LinkName } from './links.ts'
import { drawMonogram, KEY_MARK } from './mark.ts'
import { ACCENT } from './tokens.ts'

export type LogoKind = 'light' | 'dark' | 'square' | 'social'

/** The name without any setting. Its mark is the key. */
const BUILT_IN_NAME = 'Latchkey'
const RADIUS = 8

export class LiveBrand {
  /** The name without one in the form. */
  readonly defaultName: string
  /** The BRAND file, or null. It wins over the stored form. */
  readonly file: string | null
  readonly #base: string
  #form: BrandForm
  #version = ''
  #images = new Map<LogoKind, Image>()

  /** `productName`: PRODUCT_NAME. `base`: the API's public address, where emails load the logo. */
  constructor(
    productName: string,
    file: { path: string; form: BrandForm } | null = null,
    base = '',
  ) {
    this.defaultName = productName.charAt(0).toUpperCase() + productName.slice(1)
    this.file = file?.path ?? null
    this.#base = base
    this.#form = file?.form ?? {}
    this.replace(this.#form)
  }

  /** Shows another form from now on. */
  replace(form: BrandForm): void {
    this.#form = form
    this.#images = new Map()
    for (const kind of ['light', 'dark', 'social'] as const) {
      const url = form.logo?.[kind]
      if (url !== undefined) this.#images.set(kind, readImage(url))
    }
    const square = form.logo?.square
    this.#images.set('square', square === undefined ? this.#drawMark() : readImage(square))
    this.#version = createHash('sha256')
      .update(JSON.stringify([this.name, form]))
      .digest('base64url')
      .slice(0, 12)
  }

  get form(): BrandForm {
    return this.#form
  }

  /** Changes with every field. */
  get version(): string {
    return this.#version
  }

  get name(): string {
    return this.#form.name ?? this.defaultName
  }

  /** The name in file names and identifiers of programs: letters, digits and dashes. */
  get slug(): string {
    return buildSlug(this.name) || buildSlug(this.defaultName)
  }

  /** True while neither the name nor a picture is the operator's own: then the key is the mark. */
  get hasKeyMark(): boolean {
    return this.name === BUILT_IN_NAME && this.#form.logo?.square === undefined
  }

  /** The company where the operator named one, otherwise the name. */
  get legalName(): string {
    return this.#form.legal_name ?? this.name
  }

  /** The language of emails to the operator, and of everyone whose language is unknown. */
  get language(): Locale {
    return this.#form.language ?? DEFAULT_LOCALE
  }

  get tagline(): string | null {
    return this.#form.tagline ?? null
  }

  get primary(): string {
    return this.#form.colours?.primary ?? ACCENT
  }

  /** Null: the built-in brass. */
  get accent(): string | null {
    return this.#form.colours?.accent ?? null
  }

  /** In pixels, of buttons and fields. */
  get radius(): number {
    return this.#form.radius ?? RADIUS
  }

  /** True when colors or corners differ from the built-in ones. */
  get hasOwnLook(): boolean {
    const { colours = {}, radius = RADIUS } = this.#form
    return colours.primary !== undefined || colours.accent !== undefined || radius !== RADIUS
  }

  get mailColour(): string {
    return this.#form.mail?.colour ?? this.primary
  }

  get mailFooter(): string | null {
    return this.#form.mail?.footer ?? null
  }

  /** Null: the name in MAIL_FROM, or the brand's. */
  get mailFromName(): string | null {
    return this.#form.mail?.from_name ?? null
  }

  findLink(name: LinkName): string | null {
    return this.#form.links?.[name] ?? null
  }

  /** The square always exists: without a picture it is drawn. */
  findImage(kind: LogoKind): Image | null {
    return this.#images.get(kind) ?? (kind === 'dark' ? (this.#images.get('light') ?? null) : null)
  }

  /** The path of the square picture on both servers. */
  get iconPath(): string {
    return this.findImagePath('square') ?? ''
  }

  /** Returns the path of a picture on both servers. */
  findImagePath(kind: LogoKind): string | null {
    const image = this.findImage(kind)
    return image && `/brand/${kind}?v=${image.tag}`
  }

  /** Returns the URL of a picture, for emails. */
  findImageUrl(kind: LogoKind): string | null {
    const path = this.findImagePath(kind)
    return path && this.#base + path
  }

  #drawMark(): Image {
    const svg = this.hasKeyMark ? KEY_MARK : drawMonogram(this.name, this.primary)
    return readImage(`data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`)
  }
}

function buildSlug(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

/** A brand that is not saved. Nothing serves its pictures, so their addresses contain them. */
export class PreviewBrand extends LiveBrand {
  constructor(defaultName: string, form: BrandForm) {
    super(defaultName)
    this.replace(form)
  }

  override findImagePath(kind: LogoKind): string | null {
    const image = this.findImage(kind)
    return image && `data:${image.type};base64,${image.bytes.toString('base64')}`
  }
}
