/** Products as superusers read and write them: the form of the catalogue's file. */
import { type Static, Type } from 'typebox'
import { Instant, Nullable } from '#platform/http/schema.ts'

const TEXT_MAX = 50_000
const Line = Type.String({ minLength: 1, maxLength: 200 })
const Lines = Type.Array(Line, { maxItems: 100 })
const Url = Type.String({ minLength: 1, maxLength: 2_000 })
const Markdown = Type.String({ maxLength: TEXT_MAX, description: 'Markdown' })
const Price = Type.Number({ minimum: 0, maximum: 1e9, description: 'In units of the currency' })
const TierName = Type.String({ minLength: 1, maxLength: 64 })

const Optional = Type.Partial(
  Type.Object({
    slug: Type.String({ minLength: 1, maxLength: 64 }),
    free: Type.Union([Type.Literal('email'), Type.Literal('account'), Type.Null()], {
      description: 'Given away without a payment: by a mailed link, or to verified accounts',
    }),
    bundle: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 20,
      description: 'The slugs of the products that a bundle’s buyer gets; empty: no bundle',
    }),
    description: Markdown,
    includes: Nullable(Line),
    images: Type.Array(Url, { maxItems: 20 }),
    features: Lines,
    gallery: Type.Array(Type.Object({ url: Url, alt: Line }, { title: 'ProductPicture' }), {
      maxItems: 20,
    }),
    faq: Type.Array(
      Type.Object({ question: Line, answer: Markdown }, { title: 'ProductQuestion' }),
      { maxItems: 50 },
    ),
    comparison: Type.Unsafe<Record<string, boolean | string>>({
      type: 'object',
      maxProperties: 200,
      additionalProperties: Type.Union([Type.Boolean(), Line]),
      description: 'Rows of the table that compares the products',
    }),
    terms: Markdown,
    changelog: Markdown,
    tax_code: Nullable(Line),
    updates_months: Nullable(Type.Integer({ minimum: 1, maximum: 1_200 })),
    renewal_price: Nullable(Price),
    upgrade_from: Type.Unsafe<Record<string, 'difference' | number>>({
      type: 'object',
      maxProperties: 100,
      additionalProperties: Type.Union([Type.Literal('difference'), Price]),
      description: 'Per tier: `difference`, or a fixed price',
    }),
    activations_max: Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
    activation_releases_per_month: Type.Integer({ minimum: 0, maximum: 1_000_000 }),
  }),
).properties

const Form = {
  name: Line,
  price: Price,
  currency: Type.String({ minLength: 3, maxLength: 3 }),
  ...Optional,
  position: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000,
      description: 'Its place in the list; default: the last',
    }),
  ),
}
export const ProductForm = Type.Object({ tier: TierName, ...Form })
export type ProductForm = Static<typeof ProductForm>
/** Omitted fields get their defaults. */
export const ProductChange = Type.Object({
  ...Form,
  revision: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Refuses the change if the product has another one' }),
  ),
})
export type ProductChange = Static<typeof ProductChange>

export const ProductView = Type.Object(
  {
    tier: Type.String(),
    name: Type.String(),
    price: Type.Number(),
    currency: Type.String(),
    ...Type.Required(Type.Object(Optional)).properties,
    revision: Type.Integer({ description: 'Of the last change; 0 before the first' }),
    retired_at: Nullable(Instant),
    is_for_sale: Type.Boolean({
      description:
        'False without a published release, or without a tax code that TAX needs; a bundle needs these of its products',
    }),
  },
  { title: 'StoreProduct' },
)
export type ProductView = Static<typeof ProductView>
