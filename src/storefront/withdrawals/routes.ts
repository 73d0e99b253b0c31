import { Type } from 'typebox'
import type { App } from '#platform/http/app.ts'
import { Uuid } from '#platform/http/schema.ts'
import {
  beginWithdrawal,
  confirmWithdrawal,
  type WithdrawalDeps,
  WithdrawalForm,
  WithdrawalView,
} from './withdrawals.ts'

export function withdrawalRoutes(app: App, deps: WithdrawalDeps): void {
  app.post(
    '/api/withdrawals',
    {
      schema: {
        operationId: 'beginWithdrawal',
        body: WithdrawalForm,
        response: { 201: WithdrawalView },
        tags: ['purchases'],
        summary: 'Begins a withdrawal from a purchase, without sign-in',
        description:
          'Takes effect with the confirmation. The reply does not reveal whether the order exists.',
      },
      config: { access: 'anyone' },
    },
    async (request, reply) =>
      reply.code(201).send(await beginWithdrawal(deps, request.body, request.ip)),
  )

  app.post(
    '/api/withdrawals/:id/confirm',
    {
      schema: {
        operationId: 'confirmWithdrawal',
        params: Type.Object({ id: Uuid }),
        response: { 200: WithdrawalView },
        tags: ['purchases'],
        summary: 'Confirms a withdrawal; its receipt is emailed at once',
      },
      config: { access: 'anyone' },
    },
    (request) => confirmWithdrawal(deps, request.params.id),
  )
}
