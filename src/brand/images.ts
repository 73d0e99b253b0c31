/**
 * Pictures of a brand: `data:` addresses whose bytes are what they claim to be. An SVG is served
 * from our own origin, so it may contain shapes and nothing that runs or loads.
 */
import { createHash } from 'node:crypto'
import { findSvgFault } from './svg.ts'

export const IMAGE_BYTES_MAX = 100 * 1024
export const SOCIAL_BYTES_MAX = 300 * 1024

export type Image = {
  type: string
  bytes: Buffer
  /** Changes with the bytes, so that browsers can cache the address for a year. */
  tag: string
}

const DATA_URL = /^data:(image\/[a-z+]+);base64,(.+)$/

const SIGNATURES: Record<string, (bytes: Buffer) => boolean> = {
  'image/png': (bytes) => bytes.subarray(0, 8).toString('latin1') === '\x89PNG\r\n\x1a\n',
  'image/jpeg': (bytes) => bytes.subarray(0, 3).toString('latin1') === '\xff\xd8\xff',
  'image/webp': (bytes) =>
    bytes.subarray(0, 4).toString('latin1') === 'RIFF' &&
    bytes.subarray(8, 12).toString('latin1') === 'WEBP',
}

/** Returns null for a picture that may be shown, otherwise the reason for the operator. */
export function findImageFault(
  url: string | undefined,
  kind: 'light' | 'dark' | 'square' | 'social',
): string | null {
  if (url === undefined) return null
  const { type, bytes } = readImage(url)
  const bytesMax = kind === 'social' ? SOCIAL_BYTES_MAX : IMAGE_BYTES_MAX
  if (bytes.length > bytesMax) return `The picture is larger than ${bytesMax / 1024} KB`
  if (kind === 'social' && type !== 'image/png' && type !== 'image/jpeg')
    return 'Social networks show only PNG and JPEG'
  if (type === 'image/svg+xml') return findSvgFault(bytes)
  return SIGNATURES[type]?.(bytes) ? null : `The file is not a picture of the type ${type}`
}

/** @throws Error for an address that the form's schema rejects */
export function readImage(url: string): Image {
  const [, type, base64] = DATA_URL.exec(url) ?? []
  if (type === undefined || base64 === undefined)
    throw new Error('not a data: address of a picture')
  const bytes = Buffer.from(base64, 'base64')
  return { type, bytes, tag: createHash('sha256').update(bytes).digest('base64url').slice(0, 12) }
}
