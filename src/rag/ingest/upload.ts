import { createHash } from 'node:crypto'
import '@fastify/multipart'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Content } from '#platform/content.ts'
import type { Issue } from '#platform/problem.ts'
import { invalid, platformProblem } from '#platform/problems.ts'
import type { TemporaryFiles } from '#platform/temporary-files.ts'
import { ragProblem } from '../problems.ts'
import {
  CHUNK_SIZE,
  CHUNK_SIZE_MAX,
  CHUNK_SIZE_MIN,
  OVERLAP_MAX,
  resolveOverlap,
} from './chunk-settings.ts'
import { checkExternalId, checkSource, fileName } from './metadata.ts'

export type Upload = {
  name: string
  /** The citation name: the file's name, unless the client sends another, such as its path. */
  source: string
  content: Content
  sha256: string
  chunkSize: number
  chunkOverlap: number
  externalId: string | null
  replacesSource: boolean
  collections: string[]
}

/** The file exists until the reply ends. @throws Problem 413; 422 for a wrong form; 503 */
export async function readUpload(
  { temporaryFiles }: { temporaryFiles: TemporaryFiles },
  request: FastifyRequest,
  reply: FastifyReply,
  bytesMax: number,
): Promise<Upload> {
  if (!request.isMultipart()) {
    throw platformProblem('media_type_unsupported', { wanted: 'multipart/form-data' })
  }
  const fields = new Map<string, string>()
  const collections: string[] = []
  let file: Pick<Upload, 'name' | 'content' | 'sha256'> | undefined
  const issues: Issue[] = []

  try {
    for await (const part of request.parts({
      limits: { fileSize: bytesMax, files: 2, fields: 20, fieldSize: 10_000, parts: 30 },
    })) {
      if (part.type === 'field') {
        if (part.fieldname === 'collections') collections.push(...String(part.value).split(','))
        else fields.set(part.fieldname, String(part.value))
        continue
      }
      const hash = createHash('sha256')
      const content = removeAfterReply(reply, await temporaryFiles.take(part.file, { hash }))
      if (part.fieldname !== 'file')
        issues.push(
          issue(part.fieldname, 'Unexpected file: the field is named file', 'extra_forbidden'),
        )
      else if (file !== undefined) issues.push(issue('file', 'Should be one file', 'too_many'))
      else file = { name: fileName(part.filename ?? ''), content, sha256: hash.digest('hex') }
    }
  } catch (error) {
    throw toProblem(error, bytesMax)
  }

  if (file === undefined) issues.push(issue('file', 'Field required', 'missing'))
  const chunkSize = readInteger('chunk_size', CHUNK_SIZE_MIN, CHUNK_SIZE_MAX) ?? CHUNK_SIZE
  const chunkOverlap = readInteger('chunk_overlap', 0, OVERLAP_MAX)
  const replace = fields.get('replace') ?? ''
  if (replace !== '' && replace !== 'source')
    issues.push(issue('replace', "Should be 'source'", 'enum'))
  const collectionIds = collections.map((id) => id.trim()).filter((id) => id !== '')
  if (collectionIds.length > COLLECTIONS_MAX || !collectionIds.every(isUuid))
    issues.push(issue('collections', 'Should be ids of collections', 'value_error'))
  if (issues.length > 0 || file === undefined)
    throw platformProblem('validation_failed', { issues })
  const source = fields.get('source')
  return {
    ...file,
    source: source === undefined ? file.name : checkSource(source),
    chunkSize,
    chunkOverlap: resolveOverlap(chunkSize, chunkOverlap),
    externalId: checkExternalId(fields.get('external_id')),
    replacesSource: replace === 'source',
    collections: collectionIds,
  }

  function readInteger(name: string, least: number, most: number): number | undefined {
    const text = fields.get(name)
    if (text === undefined || text === '') return undefined
    const value = /^\d{1,9}(\.0+)?$/.test(text.trim()) ? Number(text) : Number.NaN
    if (Number.isNaN(value)) issues.push(issue(name, 'Should be a whole number', 'int_parsing'))
    else if (value < least)
      issues.push(issue(name, `Should be greater than or equal to ${least}`, 'greater_than_equal'))
    else if (value > most)
      issues.push(issue(name, `Should be less than or equal to ${most}`, 'less_than_equal'))
    else return value
    return undefined
  }
}

/** Removes the file when the reply ends or the client leaves. */
export function removeAfterReply(reply: FastifyReply, content: Content): Content {
  if (reply.raw.destroyed) content.remove()
  else reply.raw.once('close', () => content.remove())
  return content
}

const COLLECTIONS_MAX = 100
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isUuid = (id: string) => UUID.test(id)

function issue(name: string, msg: string, type: string): Issue {
  return { loc: ['body', name], msg, type }
}

function toProblem(error: unknown, bytesMax: number): unknown {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'FST_REQ_FILE_TOO_LARGE') {
    return ragProblem('file_too_large', { max: Math.round(bytesMax / 1024 / 1024) })
  }
  if (code?.startsWith('FST_')) return invalid(['body', 'file'], message ?? 'Malformed form')
  // An error of the form's parser: a part without an end, an invalid header.
  if (error instanceof Error && /multipart|boundary|form|header/i.test(error.message)) {
    return invalid(['body', 'file'], 'The form data is malformed or incomplete')
  }
  return error
}
