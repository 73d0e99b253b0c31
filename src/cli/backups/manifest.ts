/**
 * `manifest.json` lists the files of a backup with their checksums. It is written last: a backup
 * without one is incomplete. It contains no secret, and it does not detect changes by an attacker.
 */
import { text } from 'node:stream/consumers'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import type { Place } from './place.ts'

export const MANIFEST = 'manifest.json'

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
const ManifestSchema = Type.Object({
  format: Type.Literal(1),
  /** Version of the service that made the backup. */
  version: Type.String(),
  made_at: Type.String(),
  /** Null: the database is a SQLite file. */
  postgres: Type.Union([
    Type.Null(),
    Type.Object({ schema: Type.String(), pg_dump_version: Count }),
  ]),
  migrations: Type.Array(Type.String()),
  /** Root of the database's keys in hex, sealed with SECRET_KEY; null when it is not sealed. */
  sealed_root: Type.Union([Type.Null(), Type.String()]),
  tables: Type.Record(
    Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
    Type.Object({ rows: Count, checksum: Hash }),
  ),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      bytes: Count,
      sha256: Hash,
      modified_at: Type.String(),
      mode: Count,
    }),
  ),
  /** Ids of uploaded files that documents name and that were missing from their folder. */
  missing_originals: Type.Array(Type.String()),
})

export type Manifest = Static<typeof ManifestSchema>
export type FileEntry = Manifest['files'][number]
export type Backup = { place: Place; manifest: Manifest }

/**
 * Returns the backup at a place, or the newest one directly below it. @throws Error when none is
 * complete.
 */
export async function findBackup(place: Place): Promise<Backup> {
  const names = (await place.listFolders()).sort().reverse()
  for (const candidate of [place, ...names.map((name) => place.openFolder(name))]) {
    const content = await candidate.read(MANIFEST)
    if (content === null) continue
    const manifest = parseManifest(await text(content), candidate.address)
    return { place: candidate, manifest }
  }
  throw new Error(`there is no complete backup at ${place.address}: no ${MANIFEST} found`)
}

function parseManifest(content: string, address: string): Manifest {
  let value: unknown = null
  try {
    value = JSON.parse(content)
  } catch {}
  if (!Check(ManifestSchema, value)) {
    throw new Error(`${MANIFEST} in ${address} is damaged, or another version of Latchkey wrote it`)
  }
  const outside = value.files.find(({ path }) => !isInside(path))
  if (!outside) return value
  const path = JSON.stringify(outside.path)
  throw new Error(`${MANIFEST} in ${address} names a file outside of the backup: ${path}`)
}

const FOLDERS = ['database', 'data', 'originals', 'products']

/** Others may write to a bucket, so paths of a manifest are not trusted. */
function isInside(path: string): boolean {
  const [folder = '', ...parts] = path.split('/')
  if (!FOLDERS.includes(folder) || parts.length === 0) return false
  return parts.every((part) => !['', '.', '..'].includes(part) && !/[\\\0]/.test(part))
}

export function describeSize({ tables, files }: Manifest): string {
  const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
  const megabytes = files.reduce((sum, file) => sum + file.bytes, 0) / 1e6
  return `${rows} rows of ${Object.keys(tables).length} tables, ${files.length} files, ${megabytes.toFixed(1)} MB`
}

const NAMES_MAX = 5

export function describeMissing({ missing_originals: ids }: Manifest): string {
  const paths = ids.slice(0, NAMES_MAX).map((id) => `originals/${id.slice(0, 2)}/${id}`)
  const more = ids.length > NAMES_MAX ? ', …' : ''
  return `${ids.length} uploaded files are missing in this backup: ${paths.join(', ')}${more}. Check ORIGINALS_DIR`
}
