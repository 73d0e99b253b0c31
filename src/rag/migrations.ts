import type { Migration } from '#platform/db/migrate.ts'

export const ragMigrations: Migration[] = [
  {
    id: 'rag/001-documents',
    sql: `
      create table rag_stores (
        user_id text primary key references users (id),
        revision {bigint} not null,
        embedder text not null
      );
      create index rag_stores_by_embedder on rag_stores (embedder);
      create table rag_documents (
        user_id text not null references users (id),
        id text not null,
        version text not null,
        edition {bigint} not null,
        source text,
        metadata_json {json} not null,
        chunks {bigint} not null,
        total_chunks {bigint} not null,
        characters {bigint} not null,
        embedder text not null,
        original_id text,
        created_at {timestamp} not null,
        primary key (user_id, id)
      );
      create index rag_documents_newest on rag_documents (user_id, created_at);
      create index rag_documents_by_time on rag_documents (created_at);
      create table rag_originals (
        user_id text not null references users (id),
        id text not null,
        name text not null,
        bytes {bigint} not null,
        sha256 text not null,
        created_at {timestamp} not null,
        primary key (user_id, id)
      );
      create table rag_originals_folder (id {bigint} primary key, mark text not null);
      create table rag_external_ids (
        user_id text not null references users (id),
        external_id text not null,
        document_id text not null,
        named_at {timestamp} not null,
        primary key (user_id, external_id)
      );
      create index rag_external_ids_of_document on rag_external_ids (user_id, document_id);
      create table rag_chunks (
        user_id text not null,
        version text not null,
        chunk_index {bigint} not null,
        content text not null,
        start_offset {bigint} not null,
        gap text not null,
        page {bigint},
        page_end {bigint},
        page_starts_json {json} not null,
        heading text,
        table_header text,
        primary key (user_id, version, chunk_index)
      );
      create table rag_vectors (
        user_id text not null,
        version text not null,
        embedder text not null,
        chunk_index {bigint} not null,
        vector {bytes} not null,
        primary key (user_id, version, chunk_index)
      );
    `,
  },
  {
    id: 'rag/002-ingest-jobs',
    sql: `
      create table rag_jobs (
        user_id text not null references users (id),
        id text not null,
        state text not null,
        stage text,
        attempts {bigint} not null,
        source text,
        external_id text,
        request_json {json} not null,
        input_bytes {bigint} not null,
        characters {bigint} not null,
        file_bytes {bigint} not null,
        is_replacing {boolean} not null,
        fingerprint text,
        done {bigint} not null,
        total {bigint},
        document_id text,
        warnings_json {json} not null,
        error_json {json},
        created_at {timestamp} not null,
        finished_at {timestamp},
        primary key (user_id, id)
      );
      create index rag_jobs_by_state on rag_jobs (user_id, state, created_at);
      create index rag_jobs_finished on rag_jobs (finished_at) where finished_at is not null;
      create table rag_job_inputs (
        user_id text not null,
        job_id text not null,
        part {bigint} not null,
        bytes {bytes} not null,
        primary key (user_id, job_id, part)
      );
    `,
  },
  {
    id: 'rag/003-collections',
    sql: `
      create table rag_collections (
        user_id text not null references users (id),
        id text not null,
        name text not null,
        colour text not null,
        instructions text,
        created_at {timestamp} not null,
        updated_at {timestamp} not null,
        primary key (user_id, id)
      );
      create table rag_collection_documents (
        user_id text not null references users (id),
        collection_id text not null,
        document_id text not null,
        added_at {timestamp} not null,
        primary key (user_id, collection_id, document_id)
      );
      create index rag_collections_of_document on rag_collection_documents (user_id, document_id);
    `,
  },
]
