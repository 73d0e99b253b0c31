import { Type } from 'typebox'
import { Nullable } from '#platform/http/schema.ts'

export const IngestWarnings = Type.Array(
  Type.Object(
    { page: Nullable(Type.Integer()), reason: Type.String() },
    { title: 'IngestWarning' },
  ),
  {
    description:
      'What of a file could not be read and is left out; `page` counts from 1, null where a file has no pages.',
  },
)
