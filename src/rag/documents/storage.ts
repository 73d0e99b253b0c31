// Compares a user's storage with the limits of their plan. The sums come from the documents' rows,
// in the transaction that adds a document and under the user's lock, so two uploads at once cannot
// both take the last place. The price: a sum over the user's documents.
import '../tables.ts'
import { Type } from 'typebox'
import type { PlanLimits } from '#catalogue/catalogue.ts'
import type { Db } from '#platform/db/db.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { NamedObject, Nullable } from '#platform/http/schema.ts'
import type { RagDeps } from '../deps.ts'
import type { Mount } from '../mounts.ts'
import { readOriginalSize } from '../originals/original-store.ts'
import { ragProblem } from '../problems.ts'
import { readProgress } from '../rebuild/progress.ts'
import { findDocument, findNamedAlone, listIdsOfSource } from './document-store.ts'

export type Stored = { documents: number; characters: number; chunks: number; file_bytes: number }

/** The counted quantities, and the plan's limit of each. */
const LIMITS = {
  documents: 'documentsMax',
  characters: 'charactersMax',
  chunks: 'chunksMax',
  file_bytes: 'fileBytesMax',
} as const
const COUNTED = Object.keys(LIMITS) as (keyof Stored)[]

export async function readStored(db: Db, userId: string): Promise<Stored> {
  const row = await db
    .selectFrom('rag_documents as d')
    .leftJoin('rag_originals as o', (join) =>
      join.onRef('o.user_id', '=', 'd.user_id').onRef('o.id', '=', 'd.original_id'),
    )
    .select(({ fn }) => [
      fn.countAll<number>().as('documents'),
      fn.sum<number | null>('d.characters').as('characters'),
      fn.sum<number | null>('d.chunks').as('chunks'),
      fn.sum<number | null>('o.bytes').as('file_bytes'),
    ])
    .where('d.user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return {
    documents: Number(row.documents),
    characters: Number(row.characters),
    chunks: Number(row.chunks),
    file_bytes: Number(row.file_bytes),
  }
}

/** A document to be stored, and the names by which the documents that it replaces are found. */
export type Incoming = {
  /** Null: not known yet. */
  id: string | null
  externalId: string | null
  source: string | null
  replacesSource: boolean
  counts: Stored
}

/** Returns the storage afterwards, and the ids of the documents that it replaces. */
export async function predictStorage(
  db: Db,
  userId: string,
  before: Stored,
  { id, externalId, source, replacesSource, counts }: Incoming,
): Promise<{ after: Stored; replaced: ReadonlySet<string> }> {
  const named = externalId === null ? undefined : await findNamedAlone(db, userId, externalId)
  const ofSource =
    replacesSource && source !== null ? await listIdsOfSource(db, userId, source) : []
  const replaced = new Set([
    ...(id === null ? [] : [id]),
    ...(named === undefined ? [] : [named]),
    ...ofSource,
  ])
  const after = addStored(before, counts)
  for (const old of replaced) {
    const row = await findDocument(db, userId, old)
    if (row === undefined) continue
    after.documents -= 1
    after.characters -= row.characters
    after.chunks -= row.chunks
    after.file_bytes -= await readOriginalSize(db, userId, row.original_id)
  }
  return { after, replaced }
}

export function addStored(left: Stored, right: Stored): Stored {
  return {
    documents: left.documents + right.documents,
    characters: left.characters + right.characters,
    chunks: left.chunks + right.chunks,
    file_bytes: left.file_bytes + right.file_bytes,
  }
}

/** Above a limit, a user may still replace documents with smaller ones. @throws Problem 413 */
export function requireRoom(limits: PlanLimits, before: Stored, after: Stored): void {
  for (const name of COUNTED) {
    const max = limits[LIMITS[name]]
    if (max === null || after[name] <= max || after[name] <= before[name]) continue
    throw ragProblem('storage_limit_reached', { extra: { limit: `${name}_max`, max } })
  }
}

/** Returns whether the plan has any limit. */
export function isBounded(limits: PlanLimits): boolean {
  return COUNTED.some((name) => limits[LIMITS[name]] !== null)
}

const Room = NamedObject('StorageRoom', {
  used: Type.Integer(),
  max: Nullable(Type.Integer({ description: 'The limit of the plan; null: no limit.' })),
})

const Embedding = NamedObject(
  'EmbeddingProgress',
  { done: Type.Integer(), total: Type.Integer() },
  {
    description:
      'Chunks with vectors of the configured embedder; null if all chunks have them. Until then, searches compare only words.',
  },
)

export function storageRoute(
  app: App,
  mount: Mount,
  deps: Pick<RagDeps, 'db' | 'planLimits' | 'embedder'>,
): void {
  const { db, planLimits } = deps
  app.get(
    `${mount.prefix}/storage`,
    {
      schema: {
        operationId: mount.nameOperation('getStorage'),
        tags: [mount.tag],
        summary: 'The stored amounts and the limits of the plan',
        response: {
          200: NamedObject('Storage', {
            documents: Room,
            characters: Room,
            chunks: Room,
            file_bytes: Room,
            embedding: Nullable(Embedding),
          }),
        },
      },
      config: { ...mount.readPolicy, viewable: true },
    },
    async (request) => {
      const { userId, tier } = requireCaller(request)
      const limits = planLimits(tier)
      const [stored, embedding] = await Promise.all([
        readStored(db, userId),
        readProgress(deps, userId),
      ])
      const room = (name: keyof Stored) => ({ used: stored[name], max: limits[LIMITS[name]] })
      return {
        documents: room('documents'),
        characters: room('characters'),
        chunks: room('chunks'),
        file_bytes: room('file_bytes'),
        embedding,
      }
    },
  )
}
