/** Errors of the document store. A file's own faults are 422 `file_unreadable` with the reason. */
import { Problem } from '#platform/problem.ts'
import { FORMAT_NAMES } from './ingest/parsers/formats.ts'

export const ragProblem = Problem.define({
  document_not_found: [404, 'Document not found'],
  original_not_found: [
    404,
    'The original of this document is not stored',
    'It was sent as text, or added before originals were stored. Read its text under `/text`.',
  ],
  original_missing: [
    503,
    'The file of this document cannot be read at present',
    'The folder or bucket of originals does not return the file; the log has the reason. Read its text under `/text`.',
  ],
  collection_not_found: [404, 'Collection not found'],
  collection_limit_reached: [409, 'You have {max} collections, the most that are possible'],
  text_too_large: [413, 'The text is larger than {max} MB', 'Split it.'],
  storage_limit_reached: [
    413,
    'Storage limit reached',
    '`limit` and `max` name the limit of the plan. Delete documents or change the plan: `GET /api/rag/storage`. For a limit on chunks, choose a larger `chunk_size`; for a limit on bytes, send text instead of files.',
  ],
  file_too_large: [413, 'The file is larger than {max} MB', 'Split it.'],
  file_type_unsupported: [415, 'Unsupported file type. {advice}', `Accepted are ${FORMAT_NAMES}.`],
  file_unreadable: [
    422,
    'The file cannot be read',
    '`detail` has the reason: damaged, encrypted, empty, or without text. Save the file again.',
  ],
  file_not_kept: [
    503,
    'The file cannot be stored at present; try again in a moment',
    'The folder or bucket of originals does not accept the file; the log has the reason.',
  ],
  ingest_job_not_found: [404, 'There is no such job'],
  ingest_cancelled: [409, 'The job was cancelled', 'Occurs only as the `error` of a job.'],
  ingest_not_allowed: [
    403,
    'The API key that sent it was revoked or has expired',
    'Occurs only as the `error` of a job. Send the document again with another key.',
  ],
  ingest_given_up: [
    503,
    'It was tried {tries} times and given up: {reason}',
    'Occurs only as the `error` of a job. Send the document again later.',
  ],
  ingest_queue_full: [
    429,
    'Too many documents wait to be stored: at most {jobs}, and {max} MB in all',
    'Try again after `Retry-After` seconds, or send the documents without `Prefer: respond-async`.',
  ],
  watchers_limit_reached: [
    429,
    'Too many jobs are being watched at once: at most {max}',
    'Send the request without `Accept: text/event-stream`, or list all jobs in one request.',
  ],
  parser_busy: [
    503,
    'The server is too busy to read the file now; try again in a moment',
    'Try again after `Retry-After` seconds. With `Prefer: respond-async`, the service retries automatically.',
  ],
  reader_busy: [503, 'Too many long texts are being stored; try again in a moment'],
  origin_refused: [
    403,
    'Origin not allowed',
    'Call `/mcp` from a program, from a page of this service, or with an API key.',
  ],
  method_not_allowed: [
    405,
    'This server sends no unrequested messages: use POST',
    '`Allow` names the method.',
  ],
})
