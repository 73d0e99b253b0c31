import {
  type Icon,
  IconAdjustments,
  IconBan,
  IconCreditCard,
  IconDownload,
  IconReceiptRefund,
  IconScale,
} from '@tabler/icons-react'
import type { OrderDetail } from '../api/types.ts'
import { formatAge, formatTime } from '../components/format.ts'
import { t } from '../language/text.ts'
import classes from './order-timeline.module.css'
import { useTierNames } from './products-query.ts'
import { listOrderEvents, type OrderEvent } from './timeline.ts'

const ICONS: Record<OrderEvent['kind'], Icon> = {
  paid: IconCreditCard,
  delivered: IconDownload,
  refund: IconReceiptRefund,
  dispute: IconScale,
  ended: IconBan,
  change: IconAdjustments,
}

export function OrderTimeline({ order }: { order: OrderDetail }) {
  const nameTier = useTierNames()
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline" className={classes.title}>
        {t('Timeline')}
      </h2>
      <ol className={classes.events}>
        {listOrderEvents(order, nameTier).map(({ at, kind, title, details }) => {
          const Glyph = ICONS[kind]
          return (
            <li key={`${at} ${title} ${details.join(' ')}`} className={classes.event}>
              <span className={classes.icon} data-kind={kind}>
                <Glyph size={16} stroke={1.7} aria-hidden />
              </span>
              <div className={classes.words}>
                <div className={classes.what}>{title}</div>
                {details.length > 0 && <div className={classes.details}>{details.join(' · ')}</div>}
              </div>
              <time dateTime={at} title={formatAge(at)} className={classes.time}>
                {formatTime(at)}
              </time>
            </li>
          )
        })}
      </ol>
    </section>
  )
}
