/** Purchases as superusers read them. */
import { type Static, Type } from 'typebox'
import { Instant, JsonObject, Nullable } from '#platform/http/schema.ts'
import { PurchaseStatusName } from '../purchases/purchases.ts'

export const OrderView = Type.Object(
  {
    id: Type.String(),
    user_id: Nullable(
      Type.String({
        description: 'Null after the deletion of the account, and before a guest’s claim',
      }),
    ),
    email: Nullable(Type.String()),
    tier: Type.String(),
    status: PurchaseStatusName,
    amount_cents: Type.Integer({ description: 'In minor units of the currency' }),
    tax_cents: Type.Integer({ description: 'The part of the amount that is tax' }),
    refunded_cents: Type.Integer(),
    currency: Type.String(),
    fee_cents: Nullable(
      Type.Integer({ description: 'The processor’s fee in `fee_currency`; null while unknown' }),
    ),
    fee_currency: Nullable(Type.String()),
    payment_ref: Type.String({ description: 'The payment’s id at the processor' }),
    from_id: Nullable(Type.String({ description: 'The purchase that this one replaces' })),
    bundle_id: Nullable(
      Type.String({
        description: 'The order of the bundle that paid for it; a bundle’s own is its `id`',
      }),
    ),
    download_count: Type.Integer(),
    max_downloads: Type.Integer(),
    activations_limit: Nullable(Type.Integer({ description: 'Null: the limit of the product' })),
    entitled_until: Nullable(Instant),
    created_at: Instant,
  },
  { title: 'Order' },
)
export type OrderView = Static<typeof OrderView>

const Money = Type.Object(
  {
    id: Type.String({ description: 'The id at the processor' }),
    amount_cents: Type.Integer(),
    currency: Type.String(),
    status: Type.String({ description: 'The processor’s status' }),
    reason: Nullable(Type.String()),
    created_at: Instant,
  },
  { title: 'OrderMoney' },
)

export const OrderDetail = Type.Object(
  {
    ...OrderView.properties,
    license_key_masked: Nullable(Type.String({ description: 'Null for a bundle' })),
    members: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          tier: Type.String(),
          status: PurchaseStatusName,
          license_key_masked: Type.String(),
        },
        { title: 'OrderMember' },
      ),
      {
        description:
          'The products of a bundle, each with its own license; their `id` works like an order’s',
      },
    ),
    waiver: Nullable(
      Type.Object(
        { version: Type.String(), at: Instant },
        { title: 'Waiver', description: 'The consent with which the right of withdrawal ends' },
      ),
    ),
    withdrawn_at: Nullable(Instant),
    revoked_at: Nullable(Instant),
    chain: Type.Array(OrderView, {
      description: 'The purchases with this license key, oldest first',
    }),
    refunds: Type.Array(Money),
    disputes: Type.Array(Money),
    downloads: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          tier: Type.String({ description: 'The product; in a bundle, one of its products' }),
          version: Type.String(),
          ip_address: Type.String(),
          user_agent: Type.String(),
          country: Nullable(Type.String()),
          downloaded_at: Instant,
        },
        { title: 'OrderDownload' },
      ),
      { description: 'The newest deliveries' },
    ),
    machines: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Nullable(Type.String()),
          platform: Nullable(Type.String()),
          version: Nullable(Type.String()),
          activated_at: Instant,
          last_seen_at: Instant,
        },
        { title: 'OrderMachine' },
      ),
      { description: 'The machines that the license is active on, oldest first' },
    ),
    changes: Type.Array(
      Type.Object(
        {
          at: Instant,
          action: Type.String(),
          actor_email: Nullable(Type.String()),
          data: Nullable(JsonObject),
        },
        { title: 'OrderChange' },
      ),
      { description: 'The newest entries of the audit log about this purchase' },
    ),
  },
  { title: 'OrderDetail' },
)
export type OrderDetail = Static<typeof OrderDetail>
