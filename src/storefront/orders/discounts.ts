/**
 * Promotion codes that superusers make. The discount is a coupon at the processor. A code without
 * conditions of this service also is a promotion code there, so buyers may type it on the payment
 * page. The other codes work only through this service, which checks their conditions.
 */
import { randomUUID } from 'node:crypto'
import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { recordAudit } from '#audit/audit.ts'
import {
  mapProcessorErrors,
  nullIfMissing,
  type Processor,
  requireProcessor,
} from '#billing/processor.ts'
import type { CatalogueProduct, Tier } from '#catalogue/catalogue.ts'
import { formatMinimum, isChargeable } from '#catalogue/minimum-charge.ts'
import { type Db, isUniqueViolation, transaction } from '#platform/db/db.ts'
import type { Tables } from '#platform/db/tables.ts'
import { Instant, InstantInput, Nullable } from '#platform/http/schema.ts'
import { formatMoney, inMinorUnits, inUnits } from '#platform/money.ts'
import type { Platform } from '#platform/platform.ts'
import { invalid } from '#platform/problems.ts'
import { storefrontProblem } from '../problems.ts'
import type { Listed } from '../products/product-list.ts'
import '../tables.ts'

const Fields = {
  percent_off: Nullable(Type.Number({ minimum: 0.01, maximum: 100 })),
  amount_off: Nullable(Type.Integer({ minimum: 1, description: 'In minor units of `currency`' })),
  currency: Nullable(Type.String({ pattern: '^[a-z]{3}$' })),
  tiers: Nullable(
    Type.Array(Type.String({ maxLength: 64 }), {
      minItems: 1,
      maxItems: 50,
      description: 'Null: all products',
    }),
  ),
  owners_of: Nullable(Type.String({ maxLength: 64, description: 'Only for owners of this tier' })),
  redemptions_max: Nullable(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  until: Nullable(InstantInput),
}

export const DiscountForm = Type.Object({
  code: Type.String({ pattern: '^[A-Za-z0-9_-]{3,50}$' }),
  ...Type.Partial(Type.Object(Fields)).properties,
})
export type DiscountForm = Static<typeof DiscountForm>

export const DiscountView = Type.Object(
  {
    id: Type.String(),
    code: Type.String(),
    ...Fields,
    created_at: Instant,
    link: Type.String({ description: 'The link to share, which carries the code' }),
  },
  { title: 'Discount' },
)
export type DiscountView = Static<typeof DiscountView>

type Row = Selectable<Tables['discounts']>
type Deps = Pick<Platform, 'config' | 'db' | 'clock'> & Listed & { processor: Processor | null }

const LISTED_MAX = 1_000

export async function listDiscounts(
  deps: Pick<Deps, 'config' | 'db' | 'productList'>,
): Promise<DiscountView[]> {
  const rows = await deps.db
    .selectFrom('discounts')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(LISTED_MAX)
    .execute()
  return rows.map((row) => viewDiscount(deps, row))
}

/** Returns a live discount by its code, in any case. */
export function findDiscount(db: Db, code: string): Promise<Row | undefined> {
  return db
    .selectFrom('discounts')
    .selectAll()
    .where('code_key', '=', code.trim().toLowerCase())
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

/** Returns true when the sale meets the conditions of the code. */
export function isUsable(
  { tiers_json, owners_of, until_at }: Row,
  { tier, owned, now }: { tier: Tier; owned: readonly Tier[]; now: string },
): boolean {
  if (until_at !== null && now >= until_at) return false
  if (tiers_json !== null && !tiers_json.includes(tier)) return false
  return owners_of === null || owned.includes(owners_of)
}

/** @throws Problem 409 `amount_too_small`: the discount leaves less than can be charged */
export function requirePayable(
  { percent_off, amount_off_cents, currency }: Row,
  { product, cents }: { product: CatalogueProduct; cents: number },
): void {
  // An amount in another currency does not apply to the product.
  if (percent_off === null && currency !== product.currency) return
  const off = percent_off === null ? amount_off_cents : Math.round((cents * percent_off) / 100)
  const left = Math.max(0, cents - (off ?? 0))
  if (isChargeable(left, product.currency)) return
  throw storefrontProblem('amount_too_small', {
    product: product.name,
    price: formatMoney(inUnits(left, product.currency), product.currency),
    minimum: formatMinimum(product.currency),
  })
}

/** @throws Problem 409 `discount_code_taken`, `amount_too_small`; 422, 502 and 503 */
export async function createDiscount(
  deps: Deps,
  actorId: string,
  form: DiscountForm,
): Promise<DiscountView> {
  const processor = requireProcessor(deps.processor)
  const row = buildRow(form, deps.clock.now())
  for (const product of deps.productList.sold) {
    if (row.tiers_json?.includes(product.tier) === false) continue
    requirePayable(row, { product, cents: inMinorUnits(product.price, product.currency) })
  }
  await reserveCode(deps.db, row)
  try {
    const promotionId = await mapProcessorErrors(createCoupon(processor, row))
    await transaction(deps.db, async (tx) => {
      await tx
        .updateTable('discounts')
        .set({ promotion_id: promotionId })
        .where('id', '=', row.id)
        .execute()
      await recordAudit(tx, {
        actorId,
        action: 'discount.made',
        subject: `discount:${row.id}`,
        data: { code: row.code },
        at: row.created_at,
      })
    })
  } catch (error) {
    await deps.db.deleteFrom('discounts').where('id', '=', row.id).execute()
    throw error
  }
  return viewDiscount(deps, row)
}

function buildRow(form: DiscountForm, now: string): Row {
  const { percent_off = null, amount_off = null, currency = null } = form
  if ((percent_off === null) === (amount_off === null))
    throw invalid(['body', 'percent_off'], 'Should be given without amount_off, or the reverse')
  if ((amount_off === null) !== (currency === null))
    throw invalid(['body', 'currency'], 'Should be given with amount_off')
  const until = form.until == null ? null : new Date(form.until).toISOString()
  if (until !== null && until <= now) throw invalid(['body', 'until'], 'Should be in the future')
  const id = randomUUID()
  return {
    id,
    code: form.code,
    code_key: form.code.toLowerCase(),
    coupon_id: `store-${id}`,
    promotion_id: null,
    percent_off,
    amount_off_cents: amount_off,
    currency,
    tiers_json: form.tiers ?? null,
    owners_of: form.owners_of ?? null,
    redemptions_max: form.redemptions_max ?? null,
    until_at: until,
    created_at: now,
    deleted_at: null,
  }
}

async function reserveCode(db: Db, row: Row): Promise<void> {
  try {
    await db.insertInto('discounts').values(row).execute()
  } catch (error) {
    if (isUniqueViolation(error)) throw storefrontProblem('discount_code_taken')
    throw error
  }
}

/** Returns the id of the processor's promotion code; null when the service checks conditions of the code. */
async function createCoupon(
  { coupons, promotionCodes }: Processor,
  row: Row,
): Promise<string | null> {
  await coupons.create(
    {
      id: row.coupon_id,
      name: row.code.slice(0, 40),
      duration: 'once',
      ...(row.percent_off === null
        ? { amount_off: row.amount_off_cents ?? 0, currency: row.currency ?? 'usd' }
        : { percent_off: row.percent_off }),
      ...(row.redemptions_max === null ? {} : { max_redemptions: row.redemptions_max }),
      ...(row.until_at === null ? {} : { redeem_by: Math.floor(Date.parse(row.until_at) / 1000) }),
    },
    { idempotencyKey: `coupon:${row.id}` },
  )
  if (row.tiers_json !== null || row.owners_of !== null) return null
  const { id } = await promotionCodes.create(
    { promotion: { type: 'coupon', coupon: row.coupon_id }, code: row.code },
    { idempotencyKey: `promotion:${row.id}` },
  )
  return id
}

/** Ends a code; orders that used it keep their price. @throws Problem 404, 502 and 503 */
export async function deleteDiscount(deps: Deps, actorId: string, id: string): Promise<void> {
  const row = await deps.db
    .selectFrom('discounts')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row) throw storefrontProblem('discount_not_found')
  await mapProcessorErrors(
    nullIfMissing(requireProcessor(deps.processor).coupons.del(row.coupon_id)),
  )
  await transaction(deps.db, async (tx) => {
    const at = deps.clock.now()
    await tx.updateTable('discounts').set({ deleted_at: at }).where('id', '=', id).execute()
    await recordAudit(tx, {
      actorId,
      action: 'discount.deleted',
      subject: `discount:${id}`,
      data: { code: row.code },
      at,
    })
  })
}

function viewDiscount(deps: Pick<Deps, 'config' | 'productList'>, row: Row): DiscountView {
  return {
    id: row.id,
    code: row.code,
    percent_off: row.percent_off,
    amount_off: row.amount_off_cents,
    currency: row.currency,
    tiers: row.tiers_json === null ? null : [...row.tiers_json],
    owners_of: row.owners_of,
    redemptions_max: row.redemptions_max,
    until: row.until_at,
    created_at: row.created_at,
    link: buildLink(deps, row),
  }
}

/** A code for one product leads to its page, another one to the prices. */
function buildLink(
  { config, productList }: Pick<Deps, 'config' | 'productList'>,
  { code, tiers_json }: Row,
): string {
  const [tier, ...others] = tiers_json ?? []
  const product = tier === undefined || others.length > 0 ? undefined : productList.findSold(tier)
  const page = product === undefined ? 'pricing' : `products/${product.slug}`
  return `${config.urls.storefront}/${page}?code=${code}`
}
