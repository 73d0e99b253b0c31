import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Message, Uuid } from '#platform/http/schema.ts'
import type { ProductDeps } from '../products/releases.ts'
import { listPurchases, PurchaseView } from './list.ts'
import { RECOVERY_MESSAGE, type RecoveryDeps, requestRecovery } from './recovery.ts'
import { type RotationDeps, rotateKey } from './rotation.ts'

export function purchaseRoutes(app: App, deps: RecoveryDeps & RotationDeps & ProductDeps): void {
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
    (request) => listPurchases(deps, requireCaller(request).userId),
  )

  app.post(
    '/api/purchases/:id/rotate-key',
    {
      schema: {
        operationId: 'rotateLicenseKey',
        params: Type.Object({ id: Uuid }),
        response: { 200: Type.Object({ license_key: Type.String() }) },
        tags: ['purchases'],
        summary: 'Replaces a license key; the old one stops working at once',
      },
      config: { access: 'session' },
    },
    async (request) => {
      const { userId } = requireCaller(request)
      return { license_key: await rotateKey(deps, userId, request.params.id.toLowerCase()) }
    },
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
}
