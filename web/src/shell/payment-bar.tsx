import { IconCreditCardOff } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatProblem } from '../api/problem.ts'
import { subscriptionQuery } from '../api/queries.ts'
import { openPayment } from '../billing/processor.ts'
import { readBillingState } from '../billing/state.ts'
import { t } from '../language/text.ts'
import classes from './bar.module.css'

/** Warning above every page while a payment is due. */
export function PaymentBar() {
  const { data } = useQuery({ ...subscriptionQuery, staleTime: 60_000 })
  const pay = useMutation({ mutationFn: () => openPayment() })
  const { alert = null, actions = [] } = data ? readBillingState(data) : {}
  if (!alert?.isUrgent) return null
  return (
    <section aria-label={t('Payment due')} className={classes.bar}>
      <IconCreditCardOff size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <div role="status" className={classes.words}>
        {pay.isError ? formatProblem(pay.error) : `${alert.title}. ${alert.text}`}
      </div>
      <div>
        <button
          type="button"
          disabled={pay.isPending || pay.isSuccess}
          onClick={() => pay.mutate()}
        >
          {actions.includes('confirm') ? t('Confirm') : t('Pay now')}
        </button>
        <Link to="/billing">{t('Billing')}</Link>
      </div>
    </section>
  )
}
