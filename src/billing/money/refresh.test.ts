import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Stripe } from 'stripe'
import { lockUser } from '#identity/users.ts'
import { transaction } from '#platform/db/db.ts'
import { testApp } from '#testing/app.ts'
import { untilOneWaits } from '#testing/database.ts'
import { eraseBilling } from '../account-deletion.ts'
import type { Processor } from '../processor.ts'
import { lockAndSaveInvoice } from './invoices.ts'
import { refreshPayment } from './refresh.ts'

test('a read of a payment or an invoice does not restore a user deleted meanwhile', async (t) => {
  const app = await testApp(t)
  const { db } = app.platform
  const customer = 'cus_leaving'
  const row = { customer_id: customer, state: 'present' as const, checkout_at: null }

  const reads: Record<string, () => Promise<unknown>> = {
    payment: () =>
      refreshPayment(
        { ...app.platform, processor: processorWith(customer), followers: [] },
        'pi_new',
      ),
    invoice: () => lockAndSaveInvoice(app.platform, invoiceOf(customer)),
  }
  for (const [name, read] of Object.entries(reads)) {
    const { userId } = await app.as(name)
    await db
      .insertInto('billing_customers')
      .values({ ...row, user_id: userId })
      .execute()
    const reading = await transaction(db, async (tx) => {
      await lockUser(tx, userId)
      await eraseBilling(app.platform, tx, userId)
      const begun = { promise: read() }
      await Promise.race([begun.promise, untilOneWaits(db)])
      await tx.deleteFrom('users').where('id', '=', userId).execute()
      return begun
    })
    await reading.promise
    const payments = await db.selectFrom('payments').select(['user_id', 'customer_id']).execute()
    const invoices = await db.selectFrom('invoices').select(['user_id', 'customer_id']).execute()
    assert.deepEqual([...payments, ...invoices], [], name)
  }
})

function processorWith(customer: string): Processor {
  const charge = {
    id: 'ch_new',
    status: 'succeeded',
    customer,
    amount: 299,
    amount_captured: 299,
    currency: 'usd',
    created: 1,
  }
  const listOf = (data: object[]) => ({ list: async () => ({ data }) })
  return {
    charges: listOf([charge]),
    refunds: listOf([]),
    disputes: listOf([]),
  } as unknown as Processor
}

function invoiceOf(customer: string): Stripe.Invoice {
  return {
    id: 'in_new',
    customer,
    status: 'paid',
    total: 299,
    amount_paid: 299,
    currency: 'usd',
    created: 1,
    status_transitions: { paid_at: 1 },
    lines: { data: [] },
    payments: { data: [{ status: 'paid', payment: { payment_intent: 'pi_of_invoice' } }] },
  } as unknown as Stripe.Invoice
}
