import { Type } from 'typebox'
import { NamedObject, Nullable } from '#platform/http/schema.ts'

export const IngestWarnings = Type.Array(
  NamedObject('IngestWarning', { page: Nullable(Type.Integer()), reason: Type.String() }),
  {
    description:
      'Parts of the file that could not be read and are omitted. `page` counts from 1; null if the file has no pages.',
  },
)
