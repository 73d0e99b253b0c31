import { Badge, Skeleton } from '@mantine/core'
import { IconInbox, IconMail } from '@tabler/icons-react'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ContactMessage, ContactSubject, Superuser } from '../api/types.ts'
import { Choice } from '../components/choice.tsx'
import { formatAge, formatTime, plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { MoreRows } from '../components/more-rows.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import classes from './inbox.module.css'
import { inboxQuery } from './inbox-query.ts'
import { MessageView } from './message-view.tsx'

const route = getRouteApi('/app/desk/shop/inbox')

const SUBJECTS: Record<ContactSubject, string> = {
  sales: t('Sales'),
  support: t('Support'),
  enterprise: t('Enterprise'),
  partnership: t('Partnership'),
  other: t('General'),
}

export function InboxPage() {
  const { closed = false, message: shownId } = route.useSearch()
  const navigate = route.useNavigate()
  const inbox = useInfiniteQuery(inboxQuery(!closed))
  return (
    <Page
      title={t('Inbox')}
      lead={t('Messages of the contact form.')}
      wide
      actions={
        <Choice
          label={t('Messages')}
          value={closed ? 'closed' : 'open'}
          choices={[
            { value: 'open', label: t('Open|state') },
            { value: 'closed', label: t('Closed') },
          ]}
          onChange={(value) =>
            void navigate({ search: { closed: value === 'closed' || undefined } })
          }
        />
      }
    >
      <Loaded query={inbox} skeleton={<Skeleton h={420} />}>
        {({ pages }) => {
          const messages = pages.flatMap((page) => page.messages)
          const superusers = pages[0]?.superusers ?? []
          const shown = messages.find(({ id }) => id === shownId)
          return messages.length === 0 ? (
            <NoMessages closed={closed} />
          ) : (
            <div className={classes.columns} data-reading={shown ? true : undefined}>
              <div className={classes.list}>
                <ul className={classes.messages}>
                  {messages.map((message) => (
                    <Row
                      key={message.id}
                      message={message}
                      superusers={superusers}
                      closed={closed}
                      isShown={message === shown}
                    />
                  ))}
                </ul>
                <MoreRows loaded={plural(messages.length, 'message')} query={inbox} />
              </div>
              <div className={classes.pane}>
                {shown ? (
                  <MessageView key={shown.id} message={shown} superusers={superusers} />
                ) : (
                  <Notice icon={IconMail} title={t('No message selected')}>
                    {t('Choose a message to read and answer it.')}
                  </Notice>
                )}
              </div>
            </div>
          )
        }}
      </Loaded>
    </Page>
  )
}

function NoMessages({ closed }: { closed: boolean }) {
  return closed ? (
    <Notice icon={IconInbox} title={t('No closed messages')}>
      {t('Messages that you close are kept here.')}
    </Notice>
  ) : (
    <Notice icon={IconInbox} title={t('No open messages')}>
      {t('Messages from the contact form appear here, even when email fails.')}
    </Notice>
  )
}

type RowProps = {
  message: ContactMessage
  superusers: Superuser[]
  closed: boolean
  isShown: boolean
}

function Row({ message, superusers, closed, isShown }: RowProps) {
  const { id, name, message: text, created_at, replies, assigned_to } = message
  const assignee = superusers.find((one) => one.id === assigned_to)
  return (
    <li>
      <Link
        to="/shop/inbox"
        search={{ closed: closed || undefined, message: id }}
        resetScroll={false}
        className={classes.row}
        aria-current={isShown ? 'true' : undefined}
      >
        <span className={classes.line}>
          <span className={classes.name} dir="auto">
            {name}
          </span>
          <time dateTime={created_at} title={formatTime(created_at)}>
            {formatAge(created_at)}
          </time>
        </span>
        <span className={classes.preview} dir="auto">
          {text}
        </span>
        <span className={classes.badges}>
          <Badge color="gray">{SUBJECTS[message.subject]}</Badge>
          {replies.length > 0 && <Badge color="pine">{t('Answered')}</Badge>}
          {assignee && <Badge color="gray">{assignee.full_name ?? assignee.email}</Badge>}
          {message.notified_at === null && <Badge color="brass">{t('Email not sent yet')}</Badge>}
        </span>
      </Link>
    </li>
  )
}
