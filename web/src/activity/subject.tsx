import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { AdminAuditEntry } from '../api/types.ts'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'

type PersonProps = { id: string | null; email: string | null; name: string | null }

/** Links to the user. Without an id, the service itself or a deleted user acted. */
export function Person({ id, email, name }: PersonProps) {
  if (id === null) return '–'
  return (
    <>
      <Link to="/customers/$id" params={{ id }} className={classes.open}>
        {name ?? email ?? id}
      </Link>
      {name !== null && (
        <Text c="dimmed" size="sm" style={{ overflowWrap: 'anywhere' }}>
          {email}
        </Text>
      )}
    </>
  )
}

/** What an entry is about. `subject` is `kind:id` or a word. */
export function Subject({ entry }: { entry: AdminAuditEntry }) {
  const { subject, subject_email, subject_name } = entry
  const [kind = '', id] = subject?.split(/:(.*)/s) ?? []
  if (kind === 'user') {
    if (id === 'deleted' || id === undefined) return t('Deleted user')
    return <Person id={id} email={subject_email} name={subject_name} />
  }
  if (id === undefined) return kind === '' ? '–' : kind
  // Their ids are shown nowhere else.
  if (kind === 'session' || kind === 'passkey') return KINDS[kind]
  return (
    <>
      <SubjectLink kind={kind} id={id} />
      <Text c="dimmed" size="sm" className="mono" style={{ overflowWrap: 'anywhere' }}>
        {id}
      </Text>
    </>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  session: t('Session'),
  'api-key': t('API key'),
  passkey: t('Passkey'),
  purchase: t('Order'),
  product: t('Product'),
  discount: t('Discount'),
  contact: t('Message'),
  job: t('Job'),
  model: t('Model'),
  vendor: t('Vendor'),
}

function SubjectLink({ kind, id }: { kind: string; id: string }) {
  const label = KINDS[kind] ?? kind
  switch (kind) {
    case 'purchase':
      return (
        <Link to="/shop/orders/$id" params={{ id }} className={classes.open}>
          {label}
        </Link>
      )
    case 'product':
      return (
        <Link to="/shop/products/$tier" params={{ tier: id }} className={classes.open}>
          {label}
        </Link>
      )
    case 'contact':
      return (
        <Link to="/shop/inbox" search={{ message: id }} className={classes.open}>
          {label}
        </Link>
      )
    case 'discount':
      return (
        <Link to="/shop/discounts" className={classes.open}>
          {label}
        </Link>
      )
    case 'model':
    case 'vendor':
      return (
        <Link to="/run/models" search={{ q: readModelName(id) }} className={classes.open}>
          {label}
        </Link>
      )
    default:
      return label
  }
}

/** A switch may name a pattern, such as `openai/gpt-6*`. */
const readModelName = (id: string) => id.replace(/\*$/, '')
