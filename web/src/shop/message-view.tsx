import { Anchor, Button, Select, Textarea } from '@mantine/core'
import { IconArrowLeft, IconCheck, IconInbox } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { queries } from '../api/queries.ts'
import type { ContactMessage, Superuser } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { formatTime } from '../components/format.ts'
import { LinkButton, TextLink } from '../components/links.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import classes from './inbox.module.css'

const route = getRouteApi('/app/desk/shop/inbox')

type MessageViewProps = { message: ContactMessage; superusers: Superuser[] }

export function MessageView({ message, superusers }: MessageViewProps) {
  const { closed } = route.useSearch()
  const { id, name, email, created_at } = message
  return (
    <article aria-label={t('Message of {0}', name)} className={classes.message}>
      <LinkButton
        to="/shop/inbox"
        search={{ closed }}
        variant="subtle"
        size="compact-md"
        leftSection={<IconArrowLeft size={18} aria-hidden />}
        className={classes.back ?? ''}
      >
        {t('All messages')}
      </LinkButton>
      <header className={classes.head}>
        <div>
          <h2 dir="auto">{name}</h2>
          <p>
            <Anchor href={`mailto:${email}`} inherit>
              {email}
            </Anchor>
            {' · '}
            {formatTime(created_at)}
            {' · '}
            <TextLink to="/shop/orders" search={{ q: email }} inherit>
              {t('Orders')}
            </TextLink>
          </p>
        </div>
        <CloseButton message={message} />
      </header>
      <p className={classes.text} dir="auto">
        {message.message}
      </p>
      {message.replies.map(({ id: replyId, text, author_id, created_at: at }) => (
        <section key={replyId} aria-label={t('Answer')} className={classes.reply}>
          <p className={classes.by}>
            {findName(superusers, author_id)} · {formatTime(at)}
          </p>
          <p className={classes.text} dir="auto">
            {text}
          </p>
        </section>
      ))}
      <ReplyForm id={id} email={email} />
      <Assignee message={message} superusers={superusers} />
    </article>
  )
}

function ReplyForm({ id, email }: { id: string; email: string }) {
  const [text, setText] = useState('')
  const send = useMutation({
    mutationFn: () =>
      api.post('/api/admin/contact-messages/{id}/reply', { message: text }, { path: { id } }),
    onSuccess: async () => {
      setText('')
      showToast(t('Answer sent'))
      await reload()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') send.mutate()
  }
  return (
    <form onSubmit={submit}>
      <Textarea
        label={t('Answer')}
        description={t(
          'Emailed to {0}, followed by the message. They reply to your support address.',
          email,
        )}
        rows={5}
        maxLength={10_000}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <FormProblem problem={send.error} />
      <div className={classes.send}>
        <Button type="submit" loading={send.isPending} disabled={text.trim() === ''}>
          {t('Send answer')}
        </Button>
      </div>
    </form>
  )
}

function Assignee({ message: { id, assigned_to }, superusers }: MessageViewProps) {
  const me = useUser()
  const assign = useMutation({
    mutationFn: (userId: string | null) =>
      api.post('/api/admin/contact-messages/{id}/assign', { user_id: userId }, { path: { id } }),
    onSuccess: reload,
  })
  return (
    <div>
      <Select
        label={t('Assigned to')}
        placeholder={t('Nobody')}
        clearable
        maw="20rem"
        value={assigned_to}
        disabled={assign.isPending}
        onChange={(userId) => assign.mutate(userId)}
        data={superusers.map((one) => ({
          value: one.id,
          label: one.id === me.id ? t('You') : (one.full_name ?? one.email),
        }))}
      />
      <FormProblem problem={assign.error} />
    </div>
  )
}

function CloseButton({ message: { id, closed_at } }: { message: ContactMessage }) {
  const navigate = route.useNavigate()
  const isClosed = closed_at !== null
  const close = useMutation({
    mutationFn: () =>
      api.post('/api/admin/contact-messages/{id}/close', { closed: !isClosed }, { path: { id } }),
    onSuccess: async () => {
      showToast(isClosed ? t('Message opened again') : t('Message closed'))
      await navigate({ search: ({ closed }) => ({ closed }), resetScroll: false })
      await reload()
    },
  })
  return (
    <div>
      <Button
        variant="default"
        loading={close.isPending}
        leftSection={
          isClosed ? <IconInbox size={18} aria-hidden /> : <IconCheck size={18} aria-hidden />
        }
        onClick={() => close.mutate()}
      >
        {isClosed ? t('Open again') : t('Close')}
      </Button>
      <FormProblem problem={close.error} />
    </div>
  )
}

function findName(superusers: Superuser[], id: string | null): string {
  const author = superusers.find((one) => one.id === id)
  return author?.full_name ?? author?.email ?? t('A former superuser')
}

function reload(): Promise<void> {
  return queries.invalidateQueries({ queryKey: ['shop', 'inbox'] })
}
