/**
 * What a backup says of itself: `manifest.json`, written last, so that a backup without one was cut short. It holds no secret, and no
 * proof either: whoever can write to the place can write another.
 */
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import type { Place } from './place.ts'

export const MANIFEST = 'manifest.json'
const FORMAT = 1

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Count = Type.Integer({ minimum: 0 })
const Entry = Type.Object({
  path: Type.String(),
  bytes: Count,
  sha256: Hash,
  modified_at: Type.Optional(Type.String()),
  is_executable: Type.Optional(Type.Boolean()),
})
const ManifestSchema = Type.Object({
  format: Type.Literal(FORMAT),
  /** Of the service whose command made it. */
  version: Type.String(),
  made_at: Type.String(),
  /** `sqlite`: the database is one file; `postgres`: a file of rows a table. */
  engine: Type.Union([Type.Literal('sqlite'), Type.Literal('postgres')]),
  /** Whether SECRET_KEY is needed to make use of it. */
  root: Type.Union([Type.Literal('sealed'), Type.Literal('plain')]),
  migrations: Type.Array(Type.Object({ id: Type.String(), checksum: Type.String() })),
  tables: Type.Record(
    Type.String({ pattern: '^[a-z][a-z0-9_]*$' }),
    Type.Object({ rows: Count, checksum: Hash }),
  ),
  /** Null: products are not in it. */
  products: Type.Union([Type.Literal('included'), Type.Null()]),
  files: Type.Array(Entry),
  /** Ids of files that documents name and that were not in their folder. */
  missing_originals: Type.Array(Type.String()),
})

export type Manifest = Static<typeof ManifestSchema>
export type FileEntry = Static<typeof Entry>

export const writeManifest = (manifest: Omit<Manifest, 'format'>): string =>
  `${JSON.stringify({ format: FORMAT, ...manifest }, null, 2)}\n`

/** @throws Error with a sentence where it is none, or leads out of the folders that it is for. */
export function parseManifest(text: string, address: string): Manifest {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error(`${address}/${MANIFEST} is not JSON`)
  }
  const format = (value as { format?: unknown } | null)?.format
  if (typeof format === 'number' && format > FORMAT) {
    throw new Error(`${address} is a backup of a newer version: restore it with that one`)
  }
  if (!Check(ManifestSchema, value))
    throw new Error(`${address}/${MANIFEST} is no manifest of a backup`)
  const astray = value.files.find(({ path }) => !isInside(path))
  if (astray)
    throw new Error(
      `${address}/${MANIFEST} names a file outside of the backup: ${JSON.stringify(astray.path)}`,
    )
  return value
}

const FOLDERS = ['database', 'data', 'originals', 'products']

/** A manifest may come from a bucket that others write to. */
function isInside(path: string): boolean {
  const [folder = '', ...parts] = path.split('/')
  if (!FOLDERS.includes(folder) || parts.length === 0) return false
  return parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\0]/.test(part))
}

/**
 * The backup at a place, or the newest of those right below it.
 * @throws Error with a sentence where there is none that is whole.
 */
export async function findBackup(place: Place): Promise<{ place: Place; manifest: Manifest }> {
  const found = await place.text(MANIFEST)
  if (found !== null) return { place, manifest: parseManifest(found, place.address) }
  for (const name of (await place.folders()).toReversed()) {
    const inside = place.below(name)
    const text = await inside.text(MANIFEST)
    if (text !== null) return { place: inside, manifest: parseManifest(text, inside.address) }
  }
  throw new Error(`there is no whole backup at ${place.address}: one has a ${MANIFEST}`)
}
