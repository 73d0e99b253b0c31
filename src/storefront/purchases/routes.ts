import { Type } from 'typebox'
import { requireCaller } from '#platform/http/access-control.ts'
import type { App } from '#platform/http/app.ts'
import { Message } from '#platform/http/schema.ts'
import type { ProductDeps } from '../products/releases.ts'
import { listPurchases, PurchaseView } from './list.ts'
import { RECOVERY_MESSAGE, type RecoveryDeps, requestRecovery } from './recovery.ts'

export function purchaseRoutes(app: App, deps: RecoveryDeps & ProductDeps): void {
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
