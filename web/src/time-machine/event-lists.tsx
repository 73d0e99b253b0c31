import {
  type Icon,
  IconAdjustments,
  IconAlertTriangle,
  IconBan,
  IconCalendarEvent,
  IconCreditCard,
  IconMail,
  IconReceiptRefund,
  IconScale,
} from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { TimeMachine } from '../api/types.ts'
import { formatTime } from '../components/format.ts'
import { t } from '../language/text.ts'
import timeline from '../shop/order-timeline.module.css'
import tableClasses from '../shop/table.module.css'
import type { PassedItem } from './passed.ts'
import classes from './time-machine.module.css'

const ICONS: Record<PassedItem['kind'], Icon> = {
  paid: IconCreditCard,
  failed: IconAlertTriangle,
  ahead: IconCalendarEvent,
  change: IconAdjustments,
  ended: IconBan,
  refund: IconReceiptRefund,
  dispute: IconScale,
  email: IconMail,
}

/** A long year has thousands of events. */
const SHOWN_MAX = 300

/** Lists what happened, in the order of the items. */
export function PassedList({ items }: { items: readonly PassedItem[] }) {
  return (
    <>
      <ol className={`${timeline.events} ${classes.events}`}>
        {items.slice(0, SHOWN_MAX).map((item) => (
          <Passed key={item.id} item={item} />
        ))}
      </ol>
      {items.length > SHOWN_MAX && (
        <p className={classes.note}>{t('Only the last {0} events are listed.', SHOWN_MAX)}</p>
      )}
    </>
  )
}

function Passed({ item: { at, kind, title, email, userId, mailId } }: { item: PassedItem }) {
  const Glyph = ICONS[kind]
  return (
    <li className={timeline.event}>
      <span className={timeline.icon} data-kind={kind === 'failed' ? 'ended' : kind}>
        <Glyph size={16} stroke={1.7} aria-hidden />
      </span>
      <div className={timeline.words}>
        <div className={timeline.what}>
          {mailId === null ? (
            title
          ) : (
            <a
              href={`/sandbox/mail/${mailId}`}
              target="_blank"
              rel="noreferrer"
              className={tableClasses.open}
            >
              {title}
            </a>
          )}
        </div>
        <div className={timeline.details}>
          {mailId !== null && t('Email to ')}
          <Customer email={email} userId={userId} />
        </div>
      </div>
      <time dateTime={at} className={timeline.time}>
        {formatTime(at)}
      </time>
    </li>
  )
}

function Customer({ email, userId }: Pick<PassedItem, 'email' | 'userId'>) {
  if (userId === null) return email ?? t('Unknown customer')
  return (
    <Link to="/customers/$id" params={{ id: userId }} className={tableClasses.open}>
      {email}
    </Link>
  )
}

export function AheadList({ ahead }: Pick<TimeMachine, 'ahead'>) {
  if (ahead.length === 0)
    return <p className={classes.note}>{t('No plan is running, so nothing is due.')}</p>
  return (
    <ol className={classes.ahead}>
      {ahead.map(({ at, what, email, user_id }) => (
        <li key={`${at} ${what} ${email}`}>
          <time dateTime={at}>{formatTime(at)}</time>
          <span className={classes.what}>{capitalize(what)}</span>
          <Customer email={email} userId={user_id} />
        </li>
      ))}
    </ol>
  )
}

const capitalize = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)
