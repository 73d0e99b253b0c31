/** Reads a conversation of our own export. Every member but `messages` may be missing. */
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import { JsonObject, Nullable, Omittable, OneOf } from '#platform/http/schema.ts'
import { createContent, type MessageContent, type Part } from '../content.ts'
import { CollectionIds, Options, Part as PartSchema, TEXT_MAX, Usage } from '../schemas.ts'
import {
  type ConversationFile,
  type ImportedMessage,
  type ImportRead,
  readModel,
  readTime,
  readTitle,
} from './imported.ts'

const Id = Type.String({ minLength: 1, maxLength: 200 })
const PARTS_MAX = 100
const NAME_MAX = 500
/** Of a message's extras, as JSON. Our answers have 60,000 tokens of sources at most. */
const EXTRAS_MAX = 1_000_000

const OwnMessage = Type.Object({
  id: Id,
  parent_id: Omittable(Id),
  role: OneOf('user', 'assistant'),
  parts: Type.Array(JsonObject, { maxItems: PARTS_MAX }),
})

const Page = Nullable(Type.Integer())
const Sources = Type.Array(
  Type.Object({
    document_id: Id,
    name: Type.String({ maxLength: NAME_MAX }),
    page: Page,
    score: Type.Number(),
    content: Type.String({ maxLength: TEXT_MAX }),
    chunk_ids: Type.Array(Type.String()),
  }),
)
const Citations = Type.Array(
  Type.Object({
    source: Type.Integer({ minimum: 1 }),
    start: Type.Integer(),
    end: Type.Integer(),
    supported: Type.Boolean(),
    quote: Nullable(
      Type.Object({
        text: Type.String(),
        start: Type.Integer(),
        end: Type.Integer(),
        page: Page,
      }),
    ),
  }),
)
const Tools = Type.Array(
  Type.Object({
    name: Type.String(),
    input: JsonObject,
    state: OneOf('running', 'done'),
    found: Type.Optional(Type.Integer()),
  }),
)
const Reasoning = Type.Object(
  { text: Type.String({ maxLength: TEXT_MAX }), ms: Type.Integer({ minimum: 0 }) },
  { additionalProperties: false },
)
const ProblemView = Type.Object({ code: Type.String(), detail: Type.String() })
const Outcome = OneOf('ok', 'stopped', 'interrupted', 'failed')

type File = Record<string, unknown>

export function readOwnFormat(file: ConversationFile, now: string): ImportRead {
  const title = readTitle(file.title)
  const { messages } = file
  if (!Array.isArray(messages)) return { title, skipped: 'invalid' }
  const createdAt = readTime(file.created_at, now) ?? readTime(file.updated_at, now) ?? now
  const read: ImportedMessage[] = []
  for (const message of messages as unknown[]) {
    if (!Value.Check(OwnMessage, message)) return { title, skipped: 'invalid' }
    if (message.parts.some(({ text }) => typeof text === 'string' && text.length > TEXT_MAX))
      return { title, skipped: 'too_long' }
    const one = readMessage(message, createdAt, now)
    if (one === null) return { title, skipped: 'invalid' }
    const { sources, citations, tools, reasoning, problem } = one
    if (JSON.stringify([sources, citations, tools, reasoning, problem]).length > EXTRAS_MAX)
      return { title, skipped: 'too_long' }
    read.push(one)
  }
  return {
    sourceId: Value.Check(Id, file.id) ? file.id : null,
    title,
    title_by: file.title_by === 'model' ? 'model' : 'person',
    model: readModel(file.model),
    settings: Value.Check(Options, file.settings) ? file.settings : {},
    collection_ids: Value.Check(CollectionIds, file.collection_ids) ? file.collection_ids : [],
    pinned_at: readTime(file.pinned_at, now),
    archived_at: readTime(file.archived_at, now),
    leafId: typeof file.leaf_id === 'string' ? file.leaf_id : null,
    createdAt,
    updatedAt: readTime(file.updated_at, now) ?? createdAt,
    messages: read,
  }
}

/** Returns null where a part is not valid. */
function readMessage(
  message: Static<typeof OwnMessage>,
  createdAt: string,
  now: string,
): ImportedMessage | null {
  const parts = message.parts.filter((part) => part.type !== 'text' || part.text !== '')
  if (!parts.every((part) => Value.Check(PartSchema, part))) return null
  const file: File = message
  return {
    ...readContent(file, parts as Part[]),
    id: message.id,
    parent_id: message.parent_id ?? null,
    role: message.role,
    model: readModel(file.model),
    outcome: Value.Check(Outcome, file.outcome) ? file.outcome : 'ok',
    usage: Value.Check(Usage, file.usage) ? file.usage : null,
    created_at: readTime(file.created_at, now) ?? createdAt,
  }
}

/** Leaves out members of another shape, which browsers would fail to show. */
function readContent(file: File, parts: Part[]): MessageContent {
  const sources = Value.Check(Sources, file.sources) ? file.sources : []
  return {
    ...createContent(parts),
    sources,
    citations: sources.length > 0 && Value.Check(Citations, file.citations) ? file.citations : [],
    tools: Value.Check(Tools, file.tools) ? file.tools : [],
    reasoning: Value.Check(Reasoning, file.reasoning) ? file.reasoning : null,
    problem: Value.Check(ProblemView, file.problem) ? file.problem : null,
  }
}
