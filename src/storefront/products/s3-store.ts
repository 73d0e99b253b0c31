import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { lazyRequire } from '#platform/lazy-require.ts'
import { encode, encodeKey, type S3Credentials, signGet } from '#platform/s3/signature-v4.ts'
import { isSafePath } from '../downloads/zip/entry-name.ts'
import { type FileStore, isLitter, type LeaveOut, type StoredFile } from './file-store.ts'

export type S3Place = {
  bucket: string
  /** Without a slash at either end; may be empty. */
  prefix: string
  /** Null: AWS. Other providers (MinIO, R2, Spaces) get path-style requests. */
  endpoint: string | null
  region: string
  /** Null: a public bucket, asked without a signature. */
  credentials: S3Credentials | null
}

type Listing = {
  objects: { key: string; sizeBytes: number; etag: string; modifiedAt: Date }[]
  folders: string[]
}

const undici = lazyRequire<typeof import('undici')>('undici')

const TRIES = 3
const RETRY_MS = 200
const TIMEOUT_MS = 30_000

/** Product files in an S3 bucket, over two calls of its API: list and get. */
export function s3Store(place: S3Place, leaveOut: LeaveOut = () => {}): FileStore {
  const list = (under: string, deep: boolean): Promise<Listing> =>
    listObjects(place, `${[place.prefix, under].filter((part) => part !== '').join('/')}/`, deep)

  return {
    async folders(under) {
      return (await list(under, false)).folders
    },

    async files(under) {
      const base = `${[place.prefix, under].filter((part) => part !== '').join('/')}/`
      const files = (await list(under, true)).objects.map(
        ({ key, sizeBytes, etag, modifiedAt }): StoredFile => ({
          path: key.slice(base.length),
          sizeBytes,
          tag: etag,
          modifiedAt,
          executable: false,
          open: async () =>
            (await getObject(place, key)) ?? Promise.reject(new Error(`${key} left the bucket`)),
        }),
      )
      const delivered = files.filter(({ path }) => !isLitter(path))
      for (const { path } of delivered) {
        if (!isSafePath(path))
          leaveOut(`${under}/${path}`, 'its name cannot be unpacked on every system')
      }
      return delivered
        .filter(({ path }) => isSafePath(path))
        .sort((a, b) => (a.path < b.path ? -1 : 1))
    },

    async text(path) {
      const body = await getObject(
        place,
        [place.prefix, path].filter((part) => part !== '').join('/'),
      )
      return body ? await body.text() : null
    },
  }
}

/** ListObjectsV2, page after page. Keys come URL-encoded, so that any of them survives the XML. */
async function listObjects(place: S3Place, prefix: string, deep: boolean): Promise<Listing> {
  const listing: Listing = { objects: [], folders: [] }
  let next: string | undefined
  do {
    const query: Record<string, string> = { 'encoding-type': 'url', 'list-type': '2', prefix }
    if (!deep) query.delimiter = '/'
    if (next) query['continuation-token'] = next
    const body = await get(place, '', query)
    if (!body) throw new Error(`the bucket ${place.bucket} does not exist`)
    const xml = await body.text()

    for (const [, object = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = decodeKey(readTag(object, 'Key'))
      if (key.endsWith('/')) continue // a folder marker of a console
      listing.objects.push({
        key,
        sizeBytes: Number(readTag(object, 'Size')),
        etag: readTag(object, 'ETag'),
        modifiedAt: new Date(readTag(object, 'LastModified')),
      })
    }
    for (const [, folder = ''] of xml.matchAll(/<CommonPrefixes>(.*?)<\/CommonPrefixes>/gs)) {
      listing.folders.push(decodeKey(readTag(folder, 'Prefix')).slice(prefix.length, -1))
    }
    next =
      readTag(xml, 'IsTruncated') === 'true' ? readTag(xml, 'NextContinuationToken') : undefined
  } while (next)
  return listing
}

function getObject(place: S3Place, key: string) {
  return get(place, encodeKey(key), {})
}

/** The body of a 200, null for a 404. */
async function get(place: S3Place, path: string, query: Record<string, string>) {
  const url = buildUrl(place, path, query)
  for (let attempt = 1; ; attempt++) {
    const headers = place.credentials
      ? signGet(url, {}, place.region, place.credentials, new Date())
      : {}
    const reply = await undici()
      .request(url, { headers, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
      .catch((error) => {
        if (attempt < TRIES) return null
        throw new Error(`${url.host} cannot be reached`, { cause: error })
      })
    if (reply?.statusCode === 200) return reply.body
    if (reply?.statusCode === 404) return reply.body.dump().then(() => null)
    if (reply && (reply.statusCode < 500 || attempt === TRIES)) throw await refusal(place, reply)
    await reply?.body.dump()
    await sleep(RETRY_MS * 2 ** attempt * (0.5 + Math.random()))
  }
}

async function refusal(place: S3Place, reply: Dispatcher.ResponseData): Promise<Error> {
  const code = readTag((await reply.body.text()).slice(0, 10_000), 'Code')
  return new Error(`the bucket ${place.bucket} answered ${reply.statusCode} ${code}`)
}

function buildUrl(
  { bucket, endpoint, region }: S3Place,
  path: string,
  query: Record<string, string>,
): URL {
  const base = endpoint
    ? `${endpoint.replace(/\/$/, '')}/${encode(bucket)}`
    : `https://${bucket}.s3.${region}.amazonaws.com`
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  return new URL(`${base}/${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`)
}

function readTag(xml: string, name: string): string {
  const text = xml.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1] ?? ''
  return text.replace(/&(quot|amp|lt|gt|apos|#34|#39);/g, (entity) => ENTITIES[entity] ?? entity)
}

const ENTITIES: Record<string, string> = {
  '&quot;': '"',
  '&#34;': '"',
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&apos;': "'",
  '&#39;': "'",
}

function decodeKey(encoded: string): string {
  return decodeURIComponent(encoded.replaceAll('+', ' '))
}
