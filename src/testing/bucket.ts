// An S3 bucket on loopback, for tests; it recomputes every signature from the request as it came.
// It serves two objects to a page and URL-encodes keys, so that a client which reads one page or
// plain keys fails.
import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

export const BUCKET_KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

/**
 * The bucket's faults from now on: how many requests must slow down, and whether the others get an
 * answer.
 */
export type Trouble = { failures?: number; isSilent?: boolean }

/** Serves `products-bucket` with these objects and returns its endpoint. */
export async function startBucket(
  t: Pick<TestContext, 'after'>,
  objects: Record<string, string>,
  trouble: Trouble = {},
): Promise<string> {
  const isWritten = new Set<string>()
  const uploads = new Map<string, Map<number, string>>()
  const server = createServer(async (request, reply) => {
    const url = new URL(request.url ?? '/', 'http://s3')
    const answer = (status: number, body: string) => reply.writeHead(status).end(body)
    trouble.failures = (trouble.failures ?? 0) - 1
    if (trouble.failures >= 0) return answer(503, '<Error><Code>SlowDown</Code></Error>')
    if (trouble.isSilent) return
    const body = await readBody(request)
    if (!isSigned(request)) return answer(403, '<Error><Code>SignatureDoesNotMatch</Code></Error>')
    if (createHash('sha256').update(body).digest('hex') !== request.headers['x-amz-content-sha256'])
      return answer(400, '<Error><Code>XAmzContentSHA256Mismatch</Code></Error>')
    if (!url.pathname.startsWith('/products-bucket/'))
      return answer(404, '<Error><Code>NoSuchBucket</Code></Error>')
    if (url.searchParams.get('list-type') === '2')
      return answer(200, listing(objects, url.searchParams))
    const key = decodeURIComponent(url.pathname.slice('/products-bucket/'.length))
    if (request.method !== 'GET')
      return write({ key, method: request.method, query: url.searchParams, body }, reply)
    // Latin-1 holds bytes one by one.
    const content =
      objects[key] === undefined
        ? undefined
        : Buffer.from(objects[key], isWritten.has(key) ? 'latin1' : 'utf8')
    return content === undefined
      ? answer(404, '<Error><Code>NoSuchKey</Code></Error>')
      : reply.end(content)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  type Write = { key: string; method: string | undefined; query: URLSearchParams; body: Buffer }

  /** PutObject and multipart uploads. The parts of an incomplete upload are no object. */
  function write({ key, method, query, body }: Write, reply: ServerResponse) {
    const id = query.get('uploadId')
    const parts = id === null ? undefined : uploads.get(id)
    if (id !== null && !parts)
      return reply.writeHead(404).end('<Error><Code>NoSuchUpload</Code></Error>')
    if (method === 'POST' && !parts) {
      const fresh = `upload-${uploads.size + 1}`
      uploads.set(fresh, new Map())
      return reply.end(
        `<InitiateMultipartUploadResult><UploadId>${fresh}</UploadId></InitiateMultipartUploadResult>`,
      )
    }
    if (method === 'PUT' && parts) {
      parts.set(Number(query.get('partNumber')), body.toString('latin1'))
      return reply.setHeader('etag', `"part-${query.get('partNumber')}"`).end()
    }
    if (method === 'DELETE' && !parts) delete objects[key]
    if (method === 'DELETE') return reply.writeHead(204).end()
    const named = [
      ...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>"part-(\d+)"<\/ETag>/g),
    ]
    if (parts && named.some(([, part, tag]) => part !== tag || !parts.has(Number(part))))
      return reply.writeHead(400).end('<Error><Code>InvalidPart</Code></Error>')
    objects[key] = parts
      ? named.map(([, part]) => parts.get(Number(part))).join('')
      : body.toString('latin1')
    isWritten.add(key)
    return reply.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function listing(objects: Record<string, string>, query: URLSearchParams): string {
  const prefix = query.get('prefix') ?? ''
  const below = Object.keys(objects).filter((key) => key.startsWith(prefix))
  const cut = (key: string) =>
    query.get('delimiter') ? key.slice(0, key.indexOf('/', prefix.length) + 1) || key : key
  const names = [...new Set(below.map(cut))].sort()
  const start = Number(query.get('continuation-token') ?? 0)
  const page = names.slice(start, start + 2)
  const encode = (key: string) =>
    encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+')
  const items = page.map((name) =>
    name.endsWith('/') && query.get('delimiter')
      ? `<CommonPrefixes><Prefix>${encode(name)}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${encode(name)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;${name.length}&quot;</ETag><Size>${Buffer.byteLength(objects[name] ?? '')}</Size></Contents>`,
  )
  const more = start + 2 < names.length
  const next = more ? `<NextContinuationToken>${start + 2}</NextContinuationToken>` : ''
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${more}</IsTruncated>${next}${items.join('')}</ListBucketResult>`
}

function isSigned(request: IncomingMessage): boolean {
  const received =
    /Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)/.exec(
      request.headers.authorization ?? '',
    )
  if (!received) return false
  const [, id, day = '', region = '', names = '', signature] = received
  const [path = '', query = ''] = (request.url ?? '').split('?')
  const headers = names.split(';').map((name) => `${name}:${request.headers[name]}\n`)
  const canonical = `${request.method}\n${path}\n${query.split('&').sort().join('&')}\n${headers.join('')}\n${names}\n${request.headers['x-amz-content-sha256']}`
  const sign = (key: string | Buffer, value: string) =>
    createHmac('sha256', key).update(value).digest()
  const hash = (value: string) => createHash('sha256').update(value).digest('hex')
  const key = sign(
    sign(sign(sign(`AWS4${BUCKET_KEYS.secretAccessKey}`, day), region), 's3'),
    'aws4_request',
  )
  const subject = `AWS4-HMAC-SHA256\n${request.headers['x-amz-date']}\n${day}/${region}/s3/aws4_request\n${hash(canonical)}`
  return id === BUCKET_KEYS.accessKeyId && sign(key, subject).toString('hex') === signature
}
