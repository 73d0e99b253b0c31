/**
 * Where backups are stored: a folder or an S3 bucket. Paths of files are relative, with slashes.
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Config } from '#config/config.ts'
import {
  type Bucket,
  getObject,
  listFolders,
  openPrivateBucket,
  putObject,
} from '#platform/s3/bucket.ts'

export type Content = AsyncIterable<Buffer>
export type Digest = { bytes: number; sha256: string }

export const isSame = (a: Digest, b: Digest) => a.bytes === b.bytes && a.sha256 === b.sha256

export type Place = {
  address: string
  /** Local folder for temporary files, on the same disk where the place is a folder. */
  scratch: string
  /** Writes a new file atomically. */
  write(path: string, content: Content): Promise<Digest>
  /** Returns null when the file is missing. */
  read(path: string): Promise<Content | null>
  listFolders(): Promise<string[]>
  openFolder(name: string): Place
}

/** @throws Error with the usage. */
export function parsePlace(args: readonly string[], command: 'backup' | 'restore' | 'verify') {
  const addresses = args.filter((arg) => !arg.startsWith('--'))
  const flags = args.filter((arg) => arg.startsWith('--'))
  const known = command === 'verify' ? ['--here'] : []
  const [address] = addresses
  if (address && addresses.length === 1 && flags.every((flag) => known.includes(flag))) {
    return { address, isHere: flags.length > 0 }
  }
  const usage = `${command} FOLDER|s3://BUCKET/PREFIX${known.map((flag) => ` [${flag}]`).join('')}`
  throw new Error(`usage: npm run cli -- ${usage}`)
}

/**
 * @throws Error when the address is neither a folder nor a bucket, or when credentials are missing.
 */
export function openPlace(address: string, { products: { s3 } }: Pick<Config, 'products'>): Place {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(address)) return openFolder(address)
  if (!address.startsWith('s3://')) {
    throw new Error(`'${address}' cannot store backups: use a folder or s3://bucket/prefix`)
  }
  const { bucket, prefix } = openPrivateBucket(address, s3, 'backups are never public')
  return openPrefix(bucket, prefix === '' ? '' : `${prefix}/`)
}

function openFolder(folder: string): Place {
  const root = resolve(folder)
  return {
    address: root,
    scratch: root,
    write: (path, content) => writeNewFile(join(root, path), content),
    read: async (path) =>
      existsSync(join(root, path)) ? createReadStream(join(root, path)) : null,
    async listFolders() {
      if (!existsSync(root)) return []
      const entries = await readdir(root, { withFileTypes: true })
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
    },
    openFolder: (name) => openFolder(join(root, name)),
  }
}

function openPrefix(bucket: Bucket, prefix: string): Place {
  return {
    address: `s3://${bucket.name}/${prefix}`,
    scratch: tmpdir(),
    write: (path, content) => {
      return digest(content, (measured) => putObject(bucket, prefix + path, measured))
    },
    read: (path) => getObject(bucket, prefix + path),
    listFolders: () => listFolders(bucket, prefix),
    openFolder: (name) => openPrefix(bucket, `${prefix}${name}/`),
  }
}

/**
 * Writes under a temporary name first: a file with the final name is complete and flushed to disk.
 */
export async function writeNewFile(path: string, content: Content): Promise<Digest> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  if (existsSync(path)) throw new Error(`${path} already exists`)
  const partial = `${path}.partial`
  try {
    const written = await digest(content, (measured) => {
      return pipeline(measured, createWriteStream(partial, { mode: 0o600, flush: true }))
    })
    await rename(partial, path)
    return written
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  }
}

/** Passes the content to `consume` and returns its length and SHA-256. */
export async function digest(
  content: Content,
  consume: (content: Content) => Promise<void> = drain,
): Promise<Digest> {
  const hash = createHash('sha256')
  let bytes = 0
  async function* measure() {
    for await (const chunk of content) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await consume(measure())
  return { bytes, sha256: hash.digest('hex') }
}

async function drain(content: Content): Promise<void> {
  for await (const _ of content);
}
