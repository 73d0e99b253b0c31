// The parts of a generated API description that its readers use.
import type { Description as Described } from '#platform/http/openapi.ts'

export type Schema = {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  description?: string
}

export type Description = Pick<Described, 'paths'> & {
  components: { schemas: Record<string, Schema> }
  tags: { name: string }[]
}
