/**
 * Errors of the document store. A file's own faults are 422 with the reason, under the code
 * `file_unreadable`.
 */
import { Problem } from '#platform/problem.ts'
import { FORMAT_NAMES } from './ingest/parsers/formats.ts'

export const ragProblem = Problem.define({
  document_not_found: [404, 'Document not found'],
  original_not_found: [
    404,
    'The original of this document is not kept',
    {
      advice: 'It was stored as a text, or before originals were kept; its text is under `/text`.',
    },
  ],
  original_missing: [
    503,
    'The file of this document cannot be read now',
    {
      advice:
        'It was kept, but the folder or bucket of originals does not return it: the log has why. Its text is under `/text`.',
    },
  ],
  text_too_large: [413, 'The text is larger than {max} MB', { advice: 'Split it.' }],
  storage_limit_reached: [
    413,
    'Storage limit reached',
    {
      advice:
        '`limit` and `max` say what the plan has no more room for. Delete documents, choose a larger `chunk_size` where it is chunks, send text instead of files where it is their bytes, or change the plan: `GET /api/rag/storage`.',
    },
  ],
  file_too_large: [413, 'The file is larger than {max} MB', { advice: 'Split it.' }],
  file_type_unsupported: [
    415,
    'Unsupported file type. {advice}',
    { advice: `Accepted are ${FORMAT_NAMES}.` },
  ],
  file_unreadable: [
    422,
    'The file cannot be read',
    { advice: '`detail` has the reason: damaged, encrypted, empty, without text. Save it anew.' },
  ],
  file_not_kept: [
    503,
    'The file cannot be kept now; try again in a moment',
    { advice: 'The folder or bucket of originals does not take it: the log has why.' },
  ],
  ingest_job_not_found: [404, 'There is no such job'],
  ingest_cancelled: [
    409,
    'The job was cancelled',
    { advice: 'Only jobs tell it, as their `error`.' },
  ],
  ingest_not_allowed: [
    403,
    'The API key that sent it was revoked or has expired',
    { advice: 'Only jobs tell it, as their `error`. Send the document again with another key.' },
  ],
  ingest_given_up: [
    503,
    'It was tried {tries} times and given up: {reason}',
    { advice: 'Only jobs tell it, as their `error`. Send the document again later.' },
  ],
  ingest_queue_full: [
    429,
    'Too many documents wait to be stored: at most {jobs}, and {max} MB in all',
    {
      advice: '`Retry-After` says when to try again; or send them without `Prefer: respond-async`.',
    },
  ],
  watchers_limit_reached: [
    429,
    'Too many jobs are being watched at once: at most {max}',
    { advice: 'Ask without `Accept: text/event-stream`, or list all jobs in one request.' },
  ],
  parser_busy: [
    503,
    'The server is too busy to read the file now; try again in a moment',
    {
      advice:
        'Wait `Retry-After` seconds and try again; with `Prefer: respond-async` the service tries again by itself.',
    },
  ],
  reader_busy: [503, 'Too many long texts are being stored; try again in a moment'],
  origin_refused: [
    403,
    'Origin not allowed',
    { advice: 'Call `/mcp` from a program, from a page of this service, or with an API key.' },
  ],
  method_not_allowed: [
    405,
    'This server sends no unrequested messages: use POST',
    { advice: '`Allow` names the method.' },
  ],
})
