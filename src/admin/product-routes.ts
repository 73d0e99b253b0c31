/** A superuser edits the products of the shop. The rules are the storefront's. */
import { Type } from 'typebox'
import { requireFreshSignIn } from '#identity/sign-in/step-up.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Message } from '#platform/http/schema.ts'
import {
  changeProduct,
  createProduct,
  type EditingDeps,
  isPriceChanged,
  listProducts,
  retireProduct,
} from '#storefront/products/product-editing.ts'
import { ProductChange, ProductForm, ProductView } from '#storefront/products/product-schemas.ts'
import { adminRoute, readChange } from './admin-route.ts'

const params = Type.Object({ tier: Type.String({ minLength: 1, maxLength: 64 }) })

export function adminProductRoutes(app: App, deps: EditingDeps): void {
  app.get(
    '/api/admin/products',
    adminRoute('listProducts', 'List the products of the shop', {
      response: {
        200: Type.Object({
          is_fixed: Type.Boolean({
            description: 'True when the file of CATALOGUE has the products; nobody can edit them',
          }),
          shop_url: Type.String({ description: 'The address of the shop' }),
          products: Type.Array(ProductView),
        }),
      },
    }),
    async () => ({
      is_fixed: deps.productList.isFixed,
      shop_url: deps.config.urls.storefront,
      products: await listProducts(deps),
    }),
  )

  app.post(
    '/api/admin/products',
    adminRoute(
      'createProduct',
      'Add a product, or sell a retired one again; needs a fresh sign-in',
      { body: ProductForm, response: { 201: ProductView } },
    ),
    async (request, reply) => {
      const caller = requireCaller(request)
      await requireFreshSignIn(deps, caller)
      return reply.code(201).send(await createProduct(deps, caller.userId, request.body))
    },
  )

  app.put(
    '/api/admin/products/:tier',
    adminRoute(
      'changeProduct',
      'Replace the fields of a product; a change of prices needs a fresh sign-in',
      { params, body: ProductChange, response: { 200: ProductView } },
    ),
    async (request) => {
      const caller = requireCaller(request)
      const { tier } = request.params
      if (isPriceChanged(deps, tier, request.body)) await requireFreshSignIn(deps, caller)
      return changeProduct(deps, { actorId: caller.userId, tier }, request.body)
    },
  )

  app.delete(
    '/api/admin/products/:tier',
    adminRoute('retireProduct', 'End the sale of a product; its buyers keep what they have', {
      params,
      response: { 200: Message },
    }),
    async (request) => {
      await retireProduct(deps, readChange(request))
      return { message: 'Product no longer sold' }
    },
  )
}
