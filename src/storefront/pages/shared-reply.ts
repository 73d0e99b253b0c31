/**
 * Replies that are the same for every visitor without a session: compressed, with an ETag. Pages
 * with personal data are never compressed, because their length would reveal it (BREACH).
 */
import { createHash } from 'node:crypto'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { FastifyReply } from 'fastify'

/** Browsers ask each time whether the page has changed. */
export const REVALIDATE = 'private, no-cache'
/** Feeds and lists of pages: readers and crawlers come often. */
export const MINUTES = 'public, max-age=300'
/** The address of an asset changes with its content. */
export const FOREVER = 'public, max-age=31536000, immutable'

const BROTLI_QUALITY = 5

export class SharedContent {
  readonly #content: Buffer
  readonly #etag: string
  readonly #packed = new Map<string, Buffer>()

  constructor(content: string | Buffer) {
    this.#content = Buffer.from(content)
    const hash = createHash('sha256').update(this.#content).digest('base64url').slice(0, 16)
    // Weak, because both encodings and the plain bytes have the same one.
    this.#etag = `W/"${hash}"`
  }

  /** Sends the content, or 304 when the client has it. */
  send(reply: FastifyReply, cacheControl: string): FastifyReply {
    const { headers } = reply.request
    reply.headers({ 'cache-control': cacheControl, etag: this.#etag, vary: 'accept-encoding' })
    if (headers['if-none-match']?.includes(this.#etag)) return reply.code(304).send()
    const encoding = chooseEncoding(headers['accept-encoding'])
    if (encoding === null) return reply.send(this.#content)
    return reply.header('content-encoding', encoding).send(this.#pack(encoding))
  }

  #pack(encoding: Encoding): Buffer {
    const known = this.#packed.get(encoding)
    if (known) return known
    const packed = PACK[encoding](this.#content)
    this.#packed.set(encoding, packed)
    return packed
  }
}

/** Keeps the latest content, so that it is written and compressed once and not for each request. */
export class LatestContent {
  #key: string | null = null
  #content = new SharedContent('')

  /** Returns the content of the key. `write` runs when the key has changed. */
  get(key: string, write: () => string): SharedContent {
    if (key !== this.#key) {
      this.#content = new SharedContent(write())
      this.#key = key
    }
    return this.#content
  }
}

type Encoding = 'br' | 'gzip'

const PACK: Record<Encoding, (content: Buffer) => Buffer> = {
  br: (content) =>
    brotliCompressSync(content, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
      },
    }),
  gzip: (content) => gzipSync(content),
}

/** Returns null when the client accepts neither. */
export function chooseEncoding(accepted: string | string[] | undefined): Encoding | null {
  const names = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim()))
    .filter(([, weight = '']) => !/^q=0(\.0*)?$/.test(weight))
    .map(([name]) => name)
  return (['br', 'gzip'] as const).find((encoding) => names.includes(encoding)) ?? null
}
