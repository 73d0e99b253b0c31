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
import tableClasses from '../components/table.module.css'
import { t } from '../language/text.ts'
import timeline from '../shop/order-timeline.module.css'
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

/** The service names what is due in English. */
const AHEAD: Readonly<Record<string, string>> = {
  'the first payment was never made': t('The first payment was never made'),
  'the subscription ends': t('The subscription ends'),
  'the trial is about to end': t('The trial is about to end'),
  'the trial ends': t('The trial ends'),
  'a renewal is ahead': t('A renewal is ahead'),
  'the period ends': t('The period ends'),
  'the resumption was never paid': t('The resumption was never paid'),
  'an open payment is tried again': t('An open payment is tried again'),
}

export function AheadList({ ahead }: Pick<TimeMachine, 'ahead'>) {
  if (ahead.length === 0)
    return <p className={classes.note}>{t('No plan is running, so nothing is due.')}</p>
  return (
    <ol className={classes.ahead}>
      {ahead.map(({ at, what, email, user_id }) => (
        <li key={`${at} ${what} ${email}`}>
          <time dateTime={at}>{formatTime(at)}</time>
          <span className={classes.what}>{AHEAD[what] ?? what}</span>
          <Customer email={email} userId={user_id} />
        </li>
      ))}
    </ol>
  )
}
