/**
 * Objects in an S3 bucket (AWS, MinIO, R2, Spaces): put, got, removed, listed. One longer than a part goes up in parts, of which one is in memory
 * at a time; each carries its SHA-256, which the server compares. An upload that a killed process began stays until the bucket's own rule ends it.
 */
import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { lazyRequire } from '../lazy-require.ts'
import { encode, encodeKey, type S3Credentials, sign } from './signature-v4.ts'

export type S3Settings = {
  endpoint: string | null
  region: string
  accessKeyId: string | null
  secretAccessKey: string | null
  sessionToken: string | null
}

export type Bucket = { name: string; base: string; region: string; credentials: S3Credentials }
type Query = Record<string, string>

const undici = lazyRequire<typeof import('undici')>('undici')

const TRIES = 4
const RETRY_MS = 300
const TIMEOUT_MS = 60_000
/** S3 takes 10,000 parts of a file: 312 GiB. */
export const PART_BYTES = 32 * 1024 * 1024

/** `address`: `s3://bucket/prefix`. @throws Error with a sentence where it names no bucket, or without credentials */
export function openBucket(
  address: string,
  s3: S3Settings,
  why: string,
): { bucket: Bucket; prefix: string } {
  const { hostname: name, pathname } = new URL(address)
  const { accessKeyId, secretAccessKey, sessionToken, region, endpoint } = s3
  if (name === '') throw new Error(`'${address}' names no bucket: s3://bucket/prefix`)
  if (!accessKeyId || !secretAccessKey) {
    throw new Error(`${address} needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: ${why}`)
  }
  const base = endpoint
    ? `${endpoint.replace(/\/$/, '')}/${encode(name)}`
    : `https://${name}.s3.${region}.amazonaws.com`
  const credentials = { accessKeyId, secretAccessKey, sessionToken }
  return {
    bucket: { name, base, region, credentials },
    prefix: decodeURIComponent(pathname).replace(/^\/+|\/+$/g, ''),
  }
}

export async function putObject(
  bucket: Bucket,
  key: string,
  content: AsyncIterable<Buffer>,
  partBytes = PART_BYTES,
): Promise<void> {
  const parts = inParts(content, partBytes)
  const first = await parts.next()
  const second = await parts.next()
  if (second.done) {
    await send(bucket, 'PUT', key, {}, first.value ?? Buffer.alloc(0))
    return
  }

  const uploadId = tagOf(
    await textOf(ask(bucket, 'POST', key, { uploads: '' }, Buffer.alloc(0))),
    'UploadId',
  )
  try {
    const tags: string[] = []
    const put = async (part: Buffer) => {
      const headers = await send(
        bucket,
        'PUT',
        key,
        { partNumber: `${tags.length + 1}`, uploadId },
        part,
      )
      tags.push(String(headers.etag))
    }
    await put(first.value as Buffer)
    await put(second.value)
    for await (const part of parts) await put(part)
    const list = tags
      .map((tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
      .join('')
    const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`)
    const answer = await textOf(ask(bucket, 'POST', key, { uploadId }, body))
    // S3 may answer 200 at once, and with the failure afterwards.
    if (answer.includes('<Error>'))
      throw new Error(`the bucket ${bucket.name} answered ${tagOf(answer, 'Code')}`)
  } catch (error) {
    await send(bucket, 'DELETE', key, { uploadId }, Buffer.alloc(0)).catch(() => {})
    throw error
  }
}

/** Null where there is none such. */
export async function getObject(bucket: Bucket, key: string): Promise<Readable | null> {
  return (await ask(bucket, 'GET', key, {}, null)).body as Readable | null
}

/** Also one that is not there. */
export async function removeObject(bucket: Bucket, key: string): Promise<void> {
  await send(bucket, 'DELETE', key, {}, null)
}

/** Names of the folders right below, in their order. */
export async function listFolders(bucket: Bucket, prefix: string): Promise<string[]> {
  const names: string[] = []
  let next: string | undefined
  do {
    const query: Query = { delimiter: '/', 'encoding-type': 'url', 'list-type': '2', prefix }
    if (next) query['continuation-token'] = next
    const xml = await textOf(ask(bucket, 'GET', '', query, null))
    for (const [, folder = ''] of xml.matchAll(/<CommonPrefixes>(.*?)<\/CommonPrefixes>/gs)) {
      names.push(
        decodeURIComponent(tagOf(folder, 'Prefix').replaceAll('+', ' ')).slice(prefix.length, -1),
      )
    }
    next = tagOf(xml, 'IsTruncated') === 'true' ? tagOf(xml, 'NextContinuationToken') : undefined
  } while (next)
  return names.sort()
}

async function* inParts(
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

type Answer = {
  headers: Dispatcher.ResponseData['headers']
  body: Dispatcher.ResponseData['body'] | null
}

/** The answer of a 2xx; its body is null for a 404. */
async function ask(
  bucket: Bucket,
  method: string,
  key: string,
  query: Query,
  body: Buffer | null,
): Promise<Answer> {
  const pairs = Object.entries(query).map(([name, value]) => `${encode(name)}=${encode(value)}`)
  const url = new URL(
    `${bucket.base}/${encodeKey(key)}${pairs.length > 0 ? `?${pairs.join('&')}` : ''}`,
  )
  const bodyHash = hash('sha256', body ?? '', 'hex')
  for (let attempt = 1; ; attempt++) {
    const headers = sign(
      { method, url, headers: {}, bodyHash },
      bucket.region,
      bucket.credentials,
      new Date(),
    )
    const reply = await undici()
      .request(url, {
        method: method as Dispatcher.HttpMethod,
        headers,
        body,
        headersTimeout: TIMEOUT_MS,
        bodyTimeout: TIMEOUT_MS,
      })
      .catch((error) => {
        if (attempt < TRIES) return null
        throw new Error(`${url.host} cannot be reached`, { cause: error })
      })
    if (reply && reply.statusCode >= 200 && reply.statusCode < 300)
      return { headers: reply.headers, body: reply.body }
    if (reply?.statusCode === 404 && (method === 'GET' || method === 'DELETE') && key !== '') {
      await reply.body.dump()
      return { headers: reply.headers, body: null }
    }
    if (reply && (reply.statusCode < 500 || attempt === TRIES)) {
      const code = tagOf((await reply.body.text()).slice(0, 10_000), 'Code')
      throw new Error(`the bucket ${bucket.name} answered ${reply.statusCode} ${code}`)
    }
    await reply?.body.dump()
    await sleep(RETRY_MS * 2 ** attempt * (0.5 + Math.random()))
  }
}

/** Reads an unneeded body to its end, so that its connection serves the next request. */
async function send(...request: Parameters<typeof ask>): Promise<Answer['headers']> {
  const { headers, body } = await ask(...request)
  await body?.dump()
  return headers
}

const textOf = async (answer: Promise<Answer>) => (await (await answer).body?.text()) ?? ''

const tagOf = (xml: string, name: string) =>
  (xml.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1] ?? '')
    .replaceAll('&amp;', '&')
    .replaceAll('&quot;', '"')
