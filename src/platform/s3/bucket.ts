/**
 * Objects in an S3 bucket (AWS, MinIO, R2, Spaces). Objects longer than a part are uploaded in
 * parts, one in memory at a time. Each request carries the SHA-256 of its body, which the server
 * compares. Uploads of a killed process stay until the bucket's lifecycle rule removes them.
 */
import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { Dispatcher } from 'undici'
import { lazyRequire } from '../lazy-require.ts'

export type S3Settings = {
  /** Null: AWS. Other providers get path-style requests. */
  endpoint: string | null
  region: string
  accessKeyId: string | null
  secretAccessKey: string | null
  sessionToken: string | null
}

type Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
/** Without credentials requests are not signed, as for a public bucket. */
export type Bucket = { name: string; base: string; region: string; credentials: Credentials | null }
type Query = Record<string, string>
type Request = { method: Dispatcher.HttpMethod; key: string; query?: Query; body?: Buffer }

const undici = lazyRequire<typeof import('undici')>('undici')

const ATTEMPTS_MAX = 4
const RETRY_MS = 300
const TIMEOUT_MS = 60_000
/** S3 allows 10,000 parts: 312 GiB. */
const PART_BYTES = 32 * 1024 * 1024

/** Opens `s3://bucket/prefix`. @throws Error when the address names no bucket */
export function openBucket(
  address: string,
  { accessKeyId, secretAccessKey, sessionToken, region, endpoint }: S3Settings,
): { bucket: Bucket; prefix: string } {
  const { hostname: name, pathname } = new URL(address)
  if (name === '') throw new Error(`'${address}' names no bucket: write s3://bucket/prefix`)
  const base = endpoint
    ? `${endpoint.replace(/\/$/, '')}/${encode(name)}`
    : `https://${name}.s3.${region}.amazonaws.com`
  const token = sessionToken ? { sessionToken } : {}
  const credentials =
    accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, ...token } : null
  return {
    bucket: { name, base, region, credentials },
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
  }
}

/** Opens a bucket that must not be public. @throws Error without credentials, with the reason */
export function openPrivateBucket(address: string, s3: S3Settings, reason: string) {
  const opened = openBucket(address, s3)
  if (opened.bucket.credentials) return opened
  throw new Error(`${address} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: ${reason}`)
}

export async function putObject(
  bucket: Bucket,
  key: string,
  content: AsyncIterable<Buffer>,
  partBytes = PART_BYTES,
): Promise<void> {
  const parts = splitIntoParts(content, partBytes)
  const first = await parts.next()
  const second = await parts.next()
  if (second.done) {
    await sendAndDiscard(bucket, { method: 'PUT', key, body: first.value ?? Buffer.alloc(0) })
    return
  }

  const opened = await sendForText(bucket, { method: 'POST', key, query: { uploads: '' } })
  const uploadId = readTag(opened, 'UploadId')
  try {
    const tags: string[] = []
    const put = async (body: Buffer) => {
      const query = { partNumber: `${tags.length + 1}`, uploadId }
      const { etag } = await sendAndDiscard(bucket, { method: 'PUT', key, query, body })
      tags.push(String(etag))
    }
    await put(first.value as Buffer)
    await put(second.value)
    for await (const part of parts) await put(part)
    const list = tags
      .map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      .join('')
    const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`)
    const reply = await sendForText(bucket, { method: 'POST', key, query: { uploadId }, body })
    // S3 may answer 200 at once and report the failure in the body.
    if (reply.includes('<Error>')) {
      throw new Error(`the bucket ${bucket.name} answered ${readTag(reply, 'Code')}`)
    }
  } catch (error) {
    await sendAndDiscard(bucket, { method: 'DELETE', key, query: { uploadId } }).catch(() => {})
    throw error
  }
}

/** Returns null when the object does not exist. */
export async function getObject(bucket: Bucket, key: string): Promise<Readable | null> {
  return (await send(bucket, { method: 'GET', key })).body
}

/** Succeeds when the object does not exist. */
export async function removeObject(bucket: Bucket, key: string): Promise<void> {
  await sendAndDiscard(bucket, { method: 'DELETE', key })
}

export type ListedObject = { key: string; sizeBytes: number; etag: string; modifiedAt: Date }

/** Lists all objects under a prefix, page by page. Console markers of folders are left out. */
export async function listObjects(bucket: Bucket, prefix: string): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  for await (const xml of readListing(bucket, { prefix })) {
    for (const [, object = ''] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
      const key = decodeKey(readTag(object, 'Key'))
      if (key.endsWith('/')) continue
      objects.push({
        key,
        sizeBytes: Number(readTag(object, 'Size')),
        etag: readTag(object, 'ETag'),
        modifiedAt: new Date(readTag(object, 'LastModified')),
      })
    }
  }
  return objects
}

/** Lists the names of the folders directly below a prefix, sorted. */
export async function listFolders(bucket: Bucket, prefix: string): Promise<string[]> {
  const names: string[] = []
  for await (const xml of readListing(bucket, { prefix, delimiter: '/' })) {
    for (const [, folder = ''] of xml.matchAll(/<CommonPrefixes>(.*?)<\/CommonPrefixes>/gs)) {
      names.push(decodeKey(readTag(folder, 'Prefix')).slice(prefix.length, -1))
    }
  }
  return names.sort()
}

/** Yields the pages of ListObjectsV2. URL-encoded keys survive the XML. */
async function* readListing(bucket: Bucket, filter: Query): AsyncGenerator<string> {
  let next: string | undefined
  do {
    const query: Query = { ...filter, 'encoding-type': 'url', 'list-type': '2' }
    if (next) query['continuation-token'] = next
    const xml = await sendForText(bucket, { method: 'GET', key: '', query })
    yield xml
    const isTruncated = readTag(xml, 'IsTruncated') === 'true'
    next = isTruncated ? readTag(xml, 'NextContinuationToken') : undefined
  } while (next)
}

async function* splitIntoParts(
  content: AsyncIterable<Buffer>,
  partBytes: number,
): AsyncGenerator<Buffer, undefined> {
  let pending: Buffer[] = []
  let bytes = 0
  for await (const chunk of content) {
    pending.push(chunk)
    bytes += chunk.length
    while (bytes >= partBytes) {
      const all = Buffer.concat(pending)
      yield all.subarray(0, partBytes)
      const rest = all.subarray(partBytes)
      pending = [rest]
      bytes = rest.length
    }
  }
  if (bytes > 0) yield Buffer.concat(pending)
}

type Reply = {
  headers: Dispatcher.ResponseData['headers']
  body: Dispatcher.ResponseData['body'] | null
}

/**
 * Sends a request, retries failures, and returns the 2xx reply. The body of a missing object is
 * null.
 */
async function send(bucket: Bucket, { method, key, query = {}, body }: Request): Promise<Reply> {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  const path = key.split('/').map(encode).join('/')
  const url = `${bucket.base}/${path}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`
  const bodyHash = hash('sha256', body ?? '', 'hex')
  for (let attempt = 1; ; attempt++) {
    const headers = await sign(bucket, method, url, bodyHash)
    const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }
    const reply = await undici()
      .request(url, { method, headers, body: body ?? null, ...timeouts })
      .catch((error) => {
        if (attempt < ATTEMPTS_MAX) return null
        throw new Error(`${new URL(url).host} cannot be reached`, { cause: error })
      })
    if (reply && reply.statusCode >= 200 && reply.statusCode < 300) return reply
    if (reply?.statusCode === 404 && (method === 'GET' || method === 'DELETE') && key !== '') {
      await reply.body.dump()
      return { headers: reply.headers, body: null }
    }
    if (reply && (reply.statusCode < 500 || attempt === ATTEMPTS_MAX)) {
      const code = readTag((await reply.body.text()).slice(0, 10_000), 'Code')
      throw new Error(`the bucket ${bucket.name} answered ${reply.statusCode} ${code}`)
    }
    await reply?.body.dump()
    await sleep(RETRY_MS * 2 ** attempt * (0.5 + Math.random()))
  }
}

async function sign(
  { credentials, region }: Bucket,
  method: string,
  url: string,
  bodyHash: string,
): Promise<Iterable<[string, string]>> {
  if (credentials === null) return []
  const headers = { 'x-amz-content-sha256': bodyHash }
  const signer = new AwsV4Signer({ method, url, headers, service: 's3', region, ...credentials })
  return (await signer.sign()).headers
}

/** Sends a request and reads its body to the end, so that the connection can be reused. */
async function sendAndDiscard(bucket: Bucket, request: Request): Promise<Reply['headers']> {
  const { headers, body } = await send(bucket, request)
  await body?.dump()
  return headers
}

async function sendForText(bucket: Bucket, request: Request): Promise<string> {
  return (await (await send(bucket, request)).body?.text()) ?? ''
}

/** Encodes as RFC 3986 does, which is stricter than encodeURIComponent. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

const decodeKey = (key: string) => decodeURIComponent(key.replaceAll('+', ' '))

const ENTITIES: Record<string, string> = {
  '&quot;': '"',
  '&#34;': '"',
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&apos;': "'",
  '&#39;': "'",
}

function readTag(xml: string, name: string): string {
  const text = xml.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1] ?? ''
  return text.replace(/&(quot|amp|lt|gt|apos|#34|#39);/g, (entity) => ENTITIES[entity] ?? entity)
}
