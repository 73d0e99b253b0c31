import { Type } from 'typebox'

/** An address for lookups only; an invalid one is simply unknown. */
export const AnyEmail = Type.String({ minLength: 1, maxLength: 320 })
export const OneTimeTokenBody = Type.Object(
  { token: Type.String({ maxLength: 512 }) },
  { title: 'OneTimeToken' },
)
/** A TOTP or recovery code. */
export const Code = Type.String({ minLength: 1, maxLength: 64 })
