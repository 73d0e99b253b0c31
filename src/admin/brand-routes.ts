/** The preview of a brand that is not saved: the shop's home page and an email, by their renderers. */
import { type Static, Type } from 'typebox'
import type { Billing } from '#billing/billing.ts'
import { BrandForm } from '#brand/form.ts'
import { PreviewBrand } from '#brand/live.ts'
import { requireSound } from '#brand/routes.ts'
import { registrationEmail } from '#mail/account-emails.ts'
import { formatSender } from '#mail/mail.ts'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Nullable } from '#platform/http/schema.ts'
import type { Platform } from '#platform/platform.ts'
import { renderHomePreview } from '#storefront/pages/preview.ts'
import type { ProductDeps } from '#storefront/products/releases.ts'
import { adminRoute } from './admin-route.ts'

const Picture = Nullable(Type.String({ description: 'A `data:` address' }))

const BrandPreview = Type.Object(
  {
    name: Type.String(),
    logo: Type.Object(
      { light: Picture, dark: Picture, square: Picture },
      { title: 'BrandPreviewLogo', description: '`square` is null for the built-in key.' },
    ),
    shop: Type.String({ description: 'The home page as HTML without scripts' }),
    email: Type.Object(
      { from: Type.String(), subject: Type.String(), html: Type.String() },
      { title: 'BrandPreviewEmail' },
    ),
  },
  { title: 'BrandPreview' },
)

export function adminBrandRoutes(
  app: App,
  deps: Pick<Platform, 'config' | 'db' | 'clock' | 'log'> & ProductDeps,
  { listPlans }: Pick<Billing, 'listPlans'>,
): void {
  app.post(
    '/api/admin/brand/preview',
    adminRoute('previewBrand', 'Render the shop and an email under a brand, without saving it', {
      description: 'Refuses the same forms as `PUT /api/admin/brand`.',
      body: BrandForm,
      response: { 200: BrandPreview },
    }),
    async (request): Promise<Static<typeof BrandPreview>> => {
      requireSound(request.body)
      const brand = new PreviewBrand(deps.config.brand.defaultName, request.body)
      const config = { ...deps.config, brand }
      const { userId: id, email: address } = requireCaller(request)
      const to = { id, email: address, full_name: null, locale: null }
      const email = registrationEmail(config, { to, token: 'preview' })
      return {
        name: brand.name,
        logo: {
          light: brand.findImagePath('light'),
          dark: brand.findImagePath('dark'),
          square: brand.hasKeyMark ? null : brand.iconPath,
        },
        shop: await renderHomePreview({ ...deps, config, listPlans }),
        email: {
          from: formatSender(config),
          subject: email.subject,
          html: email.html.replace('<body ', '<body inert '),
        },
      }
    },
  )
}
