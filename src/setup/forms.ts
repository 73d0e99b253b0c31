/** The bodies of the setup page's requests. Patterns exclude what `.env` files would need to quote. */
import { Type } from 'typebox'
import { OneOf } from '#platform/http/schema.ts'

/** Characters that `.env` files and headers take without quotes. */
const ApiKey = Type.String({
  minLength: 8,
  maxLength: 300,
  pattern: '^[A-Za-z0-9._~+/=:-]+$',
})

export const PaymentsForm = Type.Object({
  secret_key: Type.String({
    maxLength: 300,
    pattern: '^(sk|rk)_(test|live)_[A-Za-z0-9_]{8,}$',
    description: 'A secret or restricted key. A publishable key (`pk_…`) cannot charge.',
  }),
  webhook_secret: Type.Optional(
    Type.String({
      maxLength: 300,
      pattern: '^whsec_[A-Za-z0-9+/=_]{8,}$',
      description: 'Of an endpoint that you created. Omitted: the service creates its endpoints.',
    }),
  ),
})

export const ModelForm = Type.Object({
  vendor: Type.String({ minLength: 1, maxLength: 64 }),
  api_key: ApiKey,
})

export const MailForm = Type.Object({
  host: Type.String({
    maxLength: 253,
    pattern: '^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$',
    description: 'A name or an IPv4 address',
  }),
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  encryption: OneOf('tls', 'starttls'),
  user: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^[ -~]+$' })),
  password: Type.Optional(Type.String({ minLength: 1, maxLength: 300, pattern: '^[ -~]+$' })),
  from_name: Type.Optional(
    Type.String({ minLength: 1, maxLength: 60, pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} .&-]*$' }),
  ),
  from_address: Type.String({
    maxLength: 254,
    pattern: "^[A-Za-z0-9.!%&'*+/=?^_{|}~-]+@[A-Za-z0-9.-]+$",
  }),
})

export const PlansForm = Type.Object({
  currency: Type.String({ pattern: '^[a-z]{3}$' }),
  prices: Type.Array(
    Type.Object(
      {
        tier: Type.String({ minLength: 1, maxLength: 64 }),
        interval: OneOf('month', 'year'),
        amount: Type.Integer({
          minimum: 1,
          maximum: 99_999_999,
          description: 'In the currency’s smallest unit',
        }),
      },
      { title: 'NewPlanPrice' },
    ),
    { minItems: 1, maxItems: 50 },
  ),
})
