import type { Json } from '#platform/db/tables.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Warning } from './ingest/parsers/unreadable.ts'

/** The lock for a user's changes, and a revision by which caches detect that they are stale. */
type RagStoresTable = {
  user_id: string
  revision: number
  /** The embedder that made the vectors of all documents; empty while one lacks them. */
  embedder: string
}

export type Metadata = Record<string, unknown>

type RagDocumentsTable = {
  user_id: string
  /** First 12 hex characters of the MD5 of the text. */
  id: string
  /** Names the current chunks; others of the same text are being written or deleted. */
  version: string
  /** Increases when single chunks are deleted. */
  edition: number
  source: string | null
  metadata_json: Json<Metadata>
  chunks: number
  total_chunks: number
  characters: number
  /** The embedder of its vectors; empty while it has none, or not all of them. */
  embedder: string
  /** The file that the text was read from, where it is stored. */
  original_id: string | null
  created_at: string
}

/** Encrypted in the folder or bucket, under its id. The row exists before and after the file. */
type RagOriginalsTable = {
  id: string
  user_id: string
  name: string
  bytes: number
  sha256: string
  created_at: string
}

/** One row: the mark that `folder-mark.ts` compares; none without a folder of originals. */
type RagOriginalsFolderTable = { id: number; mark: string }

/** A client's names for documents. Two files with the same text are one with two names. */
type RagExternalIdsTable = {
  user_id: string
  external_id: string
  document_id: string
  named_at: string
}

/** Offset in the document's text, in UTF-16 units, at which a page begins. */
export type PageStart = { at: number; page: number }

type RagChunksTable = {
  user_id: string
  version: string
  chunk_index: number
  content: string
  /** In UTF-16 units; before the last chunk's end where it repeats a part of it. */
  start_offset: number
  /** The white space between the text before and this chunk, so that the text can be restored. */
  gap: string
  /** The pages on which it starts and ends, from 1; null where its document has none. */
  page: number | null
  page_end: number | null
  /** The pages that begin inside it, in order. */
  page_starts_json: Json<PageStart[]>
  /** The headings above it: `Terms › Notice`. */
  heading: string | null
  /** The header of the table that it continues, as Markdown. */
  table_header: string | null
}

/** The byte store: little-endian floats, one vector per chunk. */
type RagVectorsTable = {
  user_id: string
  version: string
  embedder: string
  chunk_index: number
  vector: Uint8Array
}

export const COLOURS = [
  'grey',
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
] as const

/** A named group of documents. */
type RagCollectionsTable = {
  user_id: string
  id: string
  name: string
  colour: (typeof COLOURS)[number]
  /** Instructions to the model in conversations that use the collection. */
  instructions: string | null
  created_at: string
  updated_at: string
}

type RagCollectionDocumentsTable = {
  user_id: string
  collection_id: string
  document_id: string
  added_at: string
}

export type IngestJobState = 'queued' | 'running' | 'done' | 'failed'
export type IngestStage = 'reading' | 'storing'

/** The parts of a request that a list of jobs does not show, and its sender. */
export type IngestRequest = {
  /** Looked up when the job runs, because the plan, the key and the account may have changed. */
  caller: Pick<Caller, 'userId' | 'keyId'>
  /** The mount that took the request. Jobs of earlier releases have none: the API's. */
  prefix?: string
  requestId: string
  /** The file's name, which decides the parser; null for a text. */
  file: string | null
  metadata: Metadata
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
  /** The collections that the document is added to. */
  collections?: readonly string[]
}

/** A job's id is the version of its chunks, until its document names it. */
type RagJobsTable = {
  user_id: string
  id: string
  state: IngestJobState
  stage: IngestStage | null
  /** Attempts since the last written batch. */
  attempts: number
  source: string | null
  external_id: string | null
  request_json: Json<IngestRequest>
  input_bytes: number
  /** The size in the plan, as far as known before reading: of a text, or of a stored file. */
  characters: number
  file_bytes: number
  /** Whether it may replace the documents of its source. */
  is_replacing: boolean
  /** Identifies how its chunks are made; existing chunks with another fingerprint do not fit. */
  fingerprint: string | null
  /** In chunks; all chunks below `done` are stored. */
  done: number
  total: number | null
  document_id: string | null
  warnings_json: Json<Warning[]>
  error_json: Json<{ code: string; detail: string }> | null
  created_at: string
  finished_at: string | null
}

/** A job's input in parts, until the job has ended. */
type RagJobInputsTable = { user_id: string; job_id: string; part: number; bytes: Uint8Array }

declare module '#platform/db/tables.ts' {
  interface Tables {
    rag_stores: RagStoresTable
    rag_documents: RagDocumentsTable
    rag_chunks: RagChunksTable
    rag_vectors: RagVectorsTable
    rag_originals: RagOriginalsTable
    rag_originals_folder: RagOriginalsFolderTable
    rag_external_ids: RagExternalIdsTable
    rag_collections: RagCollectionsTable
    rag_collection_documents: RagCollectionDocumentsTable
    rag_jobs: RagJobsTable
    rag_job_inputs: RagJobInputsTable
  }
}

export type { RagCollectionsTable, RagDocumentsTable, RagJobsTable }
