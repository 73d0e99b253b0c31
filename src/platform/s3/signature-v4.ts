import { createHash, createHmac } from 'node:crypto'

export type S3Credentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | null
}

const EMPTY_BODY = createHash('sha256').update('').digest('hex')

/** The signed parts of a request; `bodyHash` is the hex SHA-256 of its body. */
export type Unsigned = {
  method: string
  url: URL
  headers: Record<string, string>
  bodyHash: string
}

/** Headers that sign a bodiless GET. */
export function signGet(
  url: URL,
  headers: Record<string, string>,
  region: string,
  credentials: S3Credentials,
  now: Date,
): Record<string, string> {
  return sign({ method: 'GET', url, headers, bodyHash: EMPTY_BODY }, region, credentials, now)
}

/**
 * Headers that sign a request to S3: AWS Signature Version 4, "Authenticating Requests (AWS Signature Version 4)".
 * The address must already be percent-encoded the way `encodeKey` does it.
 */
export function sign(
  { method, url, headers, bodyHash }: Unsigned,
  region: string,
  credentials: S3Credentials,
  now: Date,
): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const signed: Record<string, string> = {
    ...headers,
    host: url.host,
    'x-amz-content-sha256': bodyHash,
    'x-amz-date': time,
    ...(credentials.sessionToken ? { 'x-amz-security-token': credentials.sessionToken } : {}),
  }
  const names = Object.keys(signed).sort()
  const query = [...url.searchParams]
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
  const canonical = [
    method,
    url.pathname,
    query,
    ...names.map((name) => `${name}:${signed[name]}`),
    '',
    names.join(';'),
    bodyHash,
  ].join('\n')

  const dayKey = hmac(`AWS4${credentials.secretAccessKey}`, time.slice(0, 8))
  const key = hmac(hmac(hmac(dayKey, region), 's3'), 'aws4_request')
  const text = [
    'AWS4-HMAC-SHA256',
    time,
    scope,
    createHash('sha256').update(canonical).digest('hex'),
  ].join('\n')
  const signature = hmac(key, text).toString('hex')
  return {
    ...signed,
    authorization: `AWS4-HMAC-SHA256 Credential=${credentials.accessKeyId}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`,
  }
}

/** An object's key as encoded in the address. */
export function encodeKey(key: string): string {
  return key.split('/').map(encode).join('/')
}

/** RFC 3986: stricter than encodeURIComponent. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
