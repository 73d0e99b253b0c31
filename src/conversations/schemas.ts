/** Shared by the routes of conversations: their policy, and the shapes that several of them use. */
import { Type } from 'typebox'
import { MODEL_NAME } from '#ai/routing.ts'
import {
  Instant,
  JsonObject,
  Named,
  NamedObject,
  Nullable,
  OneOf,
  Uuid,
} from '#platform/http/schema.ts'
import type { MessageView } from './conversation-changes.ts'
import type { Conversation } from './conversation-store.ts'

/** API keys are for programs; conversations belong to people. */
export const HOME_POLICY = { access: 'user', needs: 'home' } as const

const TITLE_MAX = 200
export const TEXT_MAX = 400_000
const PARTS_MAX = 40
/** 5 MB in base64. */
const IMAGE_CHARACTERS_MAX = Math.ceil((5 * 1024 * 1024) / 3) * 4
export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'] as const

export const Title = Type.String({ minLength: 1, maxLength: TITLE_MAX, pattern: '\\S' })
export const ConversationId = Type.Object({ id: Uuid })

const DocumentId = Type.String({ minLength: 1, maxLength: 100 })

export const Part = Named(
  'MessagePart',
  Type.Union([
    Type.Object({
      type: Type.Literal('text'),
      text: Type.String({ minLength: 1, maxLength: TEXT_MAX }),
    }),
    Type.Object({
      type: Type.Literal('image'),
      media_type: OneOf(...IMAGE_TYPES),
      data: Type.String({
        minLength: 4,
        maxLength: IMAGE_CHARACTERS_MAX,
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
        description: 'The image in base64, at most 5 MB.',
      }),
    }),
    Type.Object({
      type: Type.Literal('document'),
      document_id: DocumentId,
      name: Type.String({ maxLength: 500 }),
    }),
  ]),
)
export const Parts = Type.Array(Part, { minItems: 1, maxItems: PARTS_MAX })

export const CollectionIds = Type.Array(Uuid, { maxItems: 100 })

export const Options = NamedObject(
  'ConversationSettings',
  {
    instructions: Type.Optional(Type.String({ maxLength: 20_000 })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    documents: Type.Optional(
      Type.Union([OneOf('auto', 'off'), Type.Array(DocumentId, { maxItems: 100 })], {
        description: 'Whether answers search documents: if useful, never, or these only.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** What people set. */
export const Model = Nullable(Type.String(MODEL_NAME))

const ConversationFields = {
  id: Uuid,
  title: Type.String({ description: 'Empty until the first question.' }),
  title_by: OneOf('person', 'model'),
  model: Nullable(Type.String()),
  pinned_at: Nullable(Instant),
  archived_at: Nullable(Instant),
  created_at: Instant,
  updated_at: Instant,
  is_running: Type.Boolean({ description: 'True while an answer is being written.' }),
}
export const ConversationView = NamedObject('ConversationListed', {
  ...ConversationFields,
  matches: Type.Optional(
    Type.Array(
      NamedObject('ConversationMatch', {
        message_id: Nullable(Type.String({ description: 'Null for the title.' })),
        text: Type.String(),
        marks: Type.Array(Type.Tuple([Type.Integer(), Type.Integer()]), {
          description: 'The found words in `text`: start and end, in UTF-16 units.',
        }),
      }),
      { description: 'With `q` only: lines that contain words of the query.' },
    ),
  ),
})
export const ConversationDetail = NamedObject('Conversation', {
  ...ConversationFields,
  leaf_id: Nullable(Type.String({ description: 'The last message of the shown branch.' })),
  settings: Options,
  collection_ids: Type.Array(Type.String()),
})

export const Usage = NamedObject('MessageUsage', {
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cost_usd: Nullable(Type.Number()),
  finish_reason: Type.Optional(OneOf('length', 'content_filter')),
})

const Reasoning = NamedObject(
  'MessageReasoning',
  { text: Type.String(), ms: Type.Integer({ description: 'How long the model thought.' }) },
  { description: 'What the model showed of its reasoning.' },
)

export const MessageSchema = NamedObject('ConversationMessage', {
  id: Type.String(),
  parent_id: Nullable(Type.String()),
  role: OneOf('user', 'assistant'),
  parts: Type.Array(JsonObject, { description: 'As in the question.' }),
  model: Nullable(Type.String()),
  outcome: OneOf('running', 'ok', 'stopped', 'interrupted', 'failed'),
  problem: Nullable(
    NamedObject(
      'AnswerProblem',
      { code: Type.String(), detail: Type.String() },
      { description: 'Why the answer failed.' },
    ),
  ),
  usage: Nullable(Usage),
  sources: Type.Array(JsonObject),
  citations: Type.Array(JsonObject),
  tools: Type.Array(JsonObject),
  reasoning: Nullable(Reasoning),
  sibling_ids: Type.Array(Type.String(), {
    description: 'This message and the others with the same parent, oldest first.',
  }),
  created_at: Instant,
})

export function conversationView({ isRunning, ...rest }: Conversation & { isRunning: boolean }) {
  const { id, title, title_by, model, pinned_at, archived_at, created_at, updated_at } = rest
  const view = { id, title, title_by, model, pinned_at, archived_at, created_at, updated_at }
  return { ...view, is_running: isRunning }
}

export function conversationDetail(conversation: Conversation & { isRunning: boolean }) {
  const { leaf_id, settings, collection_ids } = conversation
  return { ...conversationView(conversation), leaf_id, settings, collection_ids }
}

type Json = Record<string, unknown>

export function messageView({ updated_at, ...message }: MessageView) {
  return {
    ...message,
    parts: message.parts as unknown as Json[],
    sources: message.sources as unknown as Json[],
    citations: message.citations as unknown as Json[],
    tools: message.tools as unknown as Json[],
  }
}
