import { Skeleton } from '@mantine/core'
import { IconReceiptOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ApiProblem } from '../api/problem.ts'
import type { OrderDetail } from '../api/types.ts'
import { formatTime } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { formatAmount } from './amount.ts'
import { OrderActions } from './order-actions.tsx'
import { OrderFacts } from './order-facts.tsx'
import classes from './order-page.module.css'
import { OrderStatusBadge } from './order-status.tsx'
import { OrderTimeline } from './order-timeline.tsx'
import { orderQuery } from './orders-query.ts'
import { useTierNames } from './products-query.ts'

const route = getRouteApi('/app/desk/shop/orders/$id')

export function OrderPage() {
  const { id } = route.useParams()
  const order = useQuery(orderQuery(id))
  if (order.error instanceof ApiProblem && [404, 422].includes(order.error.status)) {
    return (
      <Notice
        order={1}
        icon={IconReceiptOff}
        title={t('No such order')}
        action={<LinkButton to="/shop/orders">{t('Go to orders')}</LinkButton>}
      >
        {t('Check the order number.')}
      </Notice>
    )
  }
  return (
    <Loaded query={order} skeleton={<Skeleton h={480} />}>
      {(data) => <Order key={data.id} order={data} />}
    </Loaded>
  )
}

function Order({ order }: { order: OrderDetail }) {
  const nameTier = useTierNames()
  const { email, tier, amount_cents, currency, created_at, status } = order
  return (
    <Page
      title={t('{0} for {1}', nameTier(tier), email ?? t('a deleted account'))}
      lead={
        <span className={classes.lead}>
          <OrderStatusBadge status={status} />
          {t('{0} on {1}|time', formatAmount(amount_cents, currency), formatTime(created_at))}
        </span>
      }
      wide
      actions={<OrderActions order={order} />}
    >
      <div className={classes.columns}>
        <OrderFacts order={order} />
        <OrderTimeline order={order} />
      </div>
    </Page>
  )
}
