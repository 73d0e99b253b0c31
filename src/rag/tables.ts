import type { Json } from '#platform/db/tables.ts'
import type { Caller } from '#platform/http/access-control.ts'
import type { Warning } from './ingest/parsers/unreadable.ts'

/** One row a user: the lock that his changes queue for, and a number that grows with each, so that caches know when they are old. */
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
  /** Names the chunks that are this document's now; others of the same text are on their way in or out. */
  version: string
  /** Grows when single chunks are deleted. */
  edition: number
  source: string | null
  metadata_json: Json<Metadata>
  chunks: number
  total_chunks: number
  characters: number
  /** The embedder that made its vectors; empty while it has none, or not all of them. */
  embedder: string
  /** The file that the text was read from, where it is kept. */
  original_id: string | null
  created_at: string
}

/** A file as it was uploaded: sealed in the folder or bucket of originals, under its id. The row is there before the file and goes after it. */
type RagOriginalsTable = {
  id: string
  user_id: string
  name: string
  bytes: number
  sha256: string
  created_at: string
}

/** One row: the mark of the folder where originals lie, which `folder-mark.ts` compares. None where they never lay in a folder. */
type RagOriginalsFolderTable = { id: number; mark: string }

/** A client's own names for documents. Several may stand for one document: two files with the same text. */
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
  /** Where it starts in the document's text, in UTF-16 units; before the end of the last where it repeats some of it. */
  start_offset: number
  /** The white space between what came before and this chunk, so that the text can be told again. */
  gap: string
  /** The pages that it starts and ends on, from 1; null where its document has none. */
  page: number | null
  page_end: number | null
  /** The pages that begin inside it, in order. */
  page_starts_json: Json<PageStart[]>
  /** The headings that it stands under: `Terms › Notice`. */
  heading: string | null
  /** The head of the table that it goes on with, as Markdown. */
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

export type IngestJobState = 'queued' | 'running' | 'done' | 'failed'
export type IngestStage = 'reading' | 'storing'

/** What was asked for beside what a list of jobs shows, as the request said it, and who asked. */
export type IngestRequest = {
  /** Who they are is asked when it runs: the plan, the key and the account may be others by then. */
  caller: Pick<Caller, 'userId' | 'keyId'>
  requestId: string
  /** Of a file, that says how it is read; null for a text. */
  file: string | null
  metadata: Metadata
  replacesSource: boolean
  chunkSize: number
  chunkOverlap: number
}

/** Documents on their way in. A job's id is the version under which its chunks are written, until its document names it. */
type RagJobsTable = {
  user_id: string
  id: string
  state: IngestJobState
  stage: IngestStage | null
  /** Since a part of it was last written. */
  attempts: number
  source: string | null
  external_id: string | null
  request_json: Json<IngestRequest>
  input_bytes: number
  /** What its document will count in the plan, as far as that is known unread: of a text its characters, of a file that is kept its bytes. */
  characters: number
  file_bytes: number
  /** Whether it may take the place of the documents of its source. */
  is_replacing: boolean
  /** Of what its chunks were made; what is there of another does not fit. */
  fingerprint: string | null
  /** In chunks, all of which below `done` are kept. */
  done: number
  total: number | null
  document_id: string | null
  warnings_json: Json<Warning[]>
  error_json: Json<{ code: string; detail: string }> | null
  created_at: string
  finished_at: string | null
}

/** What a job reads, in parts, until it has ended. */
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
    rag_jobs: RagJobsTable
    rag_job_inputs: RagJobInputsTable
  }
}

export type { RagDocumentsTable, RagJobsTable }
