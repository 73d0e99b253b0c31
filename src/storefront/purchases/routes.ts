import { Type } from 'typebox'
import { callerOf } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Instant, Message, Nullable, OneOf } from '#platform/http/schema.ts'
import type { StorefrontDeps } from '../storefront.ts'
import { listPurchases, verifyLicense } from './purchases.ts'
import { requestRecovery } from './recovery.ts'

const Status = OneOf('completed', 'refunded', 'expired')

const PurchaseView = Type.Object({
  id: Type.String(),
  tier: Type.String(),
  status: Status,
  license_key_masked: Type.String(),
  download_count: Type.Integer(),
  max_downloads: Type.Integer(),
  entitled_until: Instant,
  version: Nullable(Type.String()),
  created_at: Instant,
})

const LicenseView = Type.Object({
  valid: Type.Boolean(),
  tier: Nullable(Type.String()),
  status: Nullable(Type.String()),
  entitled_until: Nullable(Type.String()),
})

export const RECOVERY_MESSAGE = 'If purchases belong to this email, their license keys have been sent'

export function purchaseRoutes(app: App, deps: StorefrontDeps): void {
  app.get(
    '/api/purchases',
    {
      schema: {
        operationId: 'listPurchases',
        response: { 200: Type.Array(PurchaseView) },
        tags: ['purchases'],
        summary: 'The caller’s purchases',
      },
      config: { access: 'session' },
    },
    (request) => listPurchases(deps, callerOf(request).userId),
  )

  app.post(
    '/api/purchases/recover',
    {
      schema: {
        operationId: 'recoverPurchases',
        body: Type.Object({ email: Type.String({ minLength: 1, maxLength: 254 }) }),
        response: { 200: Message },
        tags: ['purchases'],
        summary: 'Mails the keys of an address to that address',
      },
      config: { access: 'anyone' },
    },
    async (request) => {
      await requestRecovery(deps, request.body.email)
      return { message: RECOVERY_MESSAGE }
    },
  )

  app.post(
    '/api/license/verify',
    {
      schema: {
        operationId: 'verifyLicense',
        body: Type.Object({ license_key: Type.String({ minLength: 1, maxLength: 1000 }) }),
        response: { 200: LicenseView },
        tags: ['purchases'],
        summary: 'Tells whether a license key is valid',
      },
      config: { access: 'anyone' },
    },
    (request) => verifyLicense(deps, request.body.license_key),
  )
}
