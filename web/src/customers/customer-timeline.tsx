import { Skeleton } from '@mantine/core'
import {
  type Icon,
  IconAdjustments,
  IconAlertTriangle,
  IconBan,
  IconCreditCard,
  IconKey,
  IconLogin2,
  IconMail,
  IconReceiptRefund,
  IconScale,
  IconShoppingBag,
} from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { planName } from '../billing/plans.ts'
import { usePlans } from '../billing/use-plans.ts'
import { Choice } from '../components/choice.tsx'
import { formatAge, formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { MoreRows } from '../components/more-rows.tsx'
import { t } from '../language/text.ts'
import timeline from '../shop/order-timeline.module.css'
import { useTierNames } from '../shop/products-query.ts'
import classes from './customer-page.module.css'
import { type About, eventsQuery } from './customers-query.ts'
import { listTimeline, type TimelineItem } from './timeline.ts'

const route = getRouteApi('/app/run/customers/$id')

const ICONS: Record<TimelineItem['kind'], Icon> = {
  paid: IconCreditCard,
  refund: IconReceiptRefund,
  dispute: IconScale,
  ended: IconBan,
  purchase: IconShoppingBag,
  call: IconAlertTriangle,
  'sign-in': IconLogin2,
  key: IconKey,
  change: IconAdjustments,
  email: IconMail,
}

const CHOICES: { value: 'all' | About; label: string }[] = [
  { value: 'all', label: t('All') },
  { value: 'money', label: t('Money') },
  { value: 'account', label: t('Account') },
  { value: 'calls', label: t('Failed calls') },
]

export function CustomerTimeline({ id }: { id: string }) {
  const { about } = route.useSearch()
  const navigate = route.useNavigate()
  const plans = usePlans()
  const names = { plan: (tier: string) => planName(plans, tier), product: useTierNames() }
  const events = useInfiniteQuery(eventsQuery(id, about))
  return (
    <section aria-labelledby="timeline" className={classes.timeline}>
      <div className={classes.head}>
        <h2 id="timeline">{t('Timeline')}</h2>
        <Choice
          label={t('Show')}
          value={about ?? 'all'}
          choices={CHOICES}
          onChange={(value) =>
            void navigate({
              search: value === 'all' ? {} : { about: value },
              replace: true,
              resetScroll: false,
            })
          }
        />
      </div>
      <Loaded query={events} skeleton={<Skeleton h={360} />}>
        {({ pages }) => {
          const items = listTimeline(
            pages.flatMap((page) => page.events),
            names,
          )
          return items.length === 0 && !events.hasNextPage ? (
            <p className={classes.none}>{t('Nothing here yet.')}</p>
          ) : (
            <>
              <ol className={timeline.events}>
                {items.map((item) => (
                  <Item key={`${item.id} ${item.kind} ${item.title}`} item={item} />
                ))}
              </ol>
              <MoreRows loaded={plural(items.length, 'event')} query={events} />
            </>
          )
        }}
      </Loaded>
    </section>
  )
}

function Item({ item: { at, kind, title, details, orderId } }: { item: TimelineItem }) {
  const Glyph = ICONS[kind]
  return (
    <li className={timeline.event}>
      <span className={timeline.icon} data-kind={kind === 'call' ? 'ended' : kind}>
        <Glyph size={16} stroke={1.7} aria-hidden />
      </span>
      <div className={timeline.words}>
        <div className={timeline.what}>
          {orderId ? (
            <Link to="/shop/orders/$id" params={{ id: orderId }} className={classes.link}>
              {title}
            </Link>
          ) : (
            title
          )}
        </div>
        {details.length > 0 && <div className={timeline.details}>{details.join(' · ')}</div>}
      </div>
      <time dateTime={at} title={formatAge(at)} className={timeline.time}>
        {formatTime(at)}
      </time>
    </li>
  )
}
