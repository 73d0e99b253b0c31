import { type Static, type TObjectOptions, type TProperties, type TSchema, Type } from 'typebox'

/**
 * Also allows null, as `type: [T, null]`, which is serialized faster than a union. A union gets one
 * more member.
 */
export function Nullable<
  T extends TSchema & { type?: string; anyOf?: TSchema[]; enum?: unknown[] },
>(schema: T) {
  if (schema.anyOf !== undefined) {
    return Type.Unsafe<Static<T> | null>({ ...schema, anyOf: [...schema.anyOf, { type: 'null' }] })
  }
  if (schema.type === undefined) throw new Error('Nullable takes a schema with a type, or a union')
  const words = schema.enum === undefined ? {} : { enum: [...schema.enum, null] }
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [schema.type, 'null'], ...words })
}

/** A field that may be omitted or null. */
export function Omittable<T extends Parameters<typeof Nullable>[0]>(schema: T) {
  return Type.Optional(Nullable(schema))
}

/** Gives the schema a name in the API's description. */
export function Named<T extends TSchema>(title: string, schema: T) {
  return Type.Unsafe<Static<T>>({ ...schema, title })
}

/** An object with a name in the API's description. */
export function NamedObject<P extends TProperties>(
  title: string,
  properties: P,
  options: TObjectOptions = {},
) {
  return Type.Object(properties, { title, ...options })
}

/** A named object that may have further members. */
export function OpenObject<P extends TProperties>(title: string, properties: P) {
  return NamedObject(title, properties, { additionalProperties: true })
}

/** A string enum. */
export function OneOf<const T extends string>(...words: T[]) {
  return Type.Unsafe<T>({ type: 'string', enum: words })
}

/** Any value from the sender. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  title: 'JsonObject',
})
export const Instant = Type.String({ format: 'date-time' })
/** In requests: the length is judged before the format. */
export const InstantInput = Type.String({ maxLength: 64, format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })
export const Message = Type.Object({ message: Type.String() }, { title: 'Message' })
