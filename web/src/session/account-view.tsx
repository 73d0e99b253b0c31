/**
 * A superuser's view of another account, in this tab alone. Loads only while a view is open, and
 * draws its bar in a root of its own, so that every page has it.
 */

import { IconEye } from '@tabler/icons-react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { Reply } from '../api/operation.ts'
import type { TokenPair } from '../api/types.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import classes from './account-view.module.css'
import type { Session } from './session.ts'
import { parseClaims } from './token.ts'
import { viewToken } from './token-store.ts'

const USER = '/api/auth/me'
const END = '/api/admin/view'

/** `own`: the superuser's session. */
export function openView(own: Session) {
  const token = viewToken.read() ?? ''
  const { sub = '', exp = 0 } = parseClaims(token) ?? {}
  let isRenewed = false
  /** Loads the tab anew under the superuser's own session. */
  const leave = () => {
    viewToken.clear()
    location.replace(`/customers/${sub}`)
  }
  const end = () =>
    void endView(own)
      .catch(() => undefined)
      .then(leave)
  void showBar(token, { until: new Date(exp * 1000), end })

  return {
    leave,
    /** The token is never renewed. When a request needs another one, the view is over. */
    async renew(refreshToken: string): Promise<TokenPair | 'refused'> {
      if (isRenewed) return 'refused'
      isRenewed = true
      return { access_token: refreshToken, refresh_token: refreshToken }
    },
  }
}

/** The token of the view cannot end it, because it changes nothing. */
async function endView(own: Session): Promise<void> {
  const token = await own.token()
  if (token !== null)
    await fetch(END, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } })
}

type BarProps = { until: Date; end: () => void }

async function showBar(token: string, bar: BarProps): Promise<void> {
  const place = document.createElement('div')
  document.body.append(place)
  const root = createRoot(place)
  root.render(<ViewBar name="…" {...bar} />)
  const name = await readName(token).catch(() => null)
  if (name !== null) root.render(<ViewBar name={name} {...bar} />)
}

async function readName(token: string): Promise<string | null> {
  const response = await fetch(USER, { headers: { authorization: `Bearer ${token}` } })
  if (!response.ok) return null
  const { full_name, email } = (await response.json()) as Reply<'GET', typeof USER>
  return full_name ?? email
}

function ViewBar({ name, until, end }: BarProps & { name: string }) {
  const [isEnding, setIsEnding] = useState(false)
  return (
    <section aria-label={t('View of another account')} className={classes.bar}>
      <IconEye size={18} stroke={1.7} aria-hidden />
      <p role="status">
        {rich(
          'Viewing as {0}. Read-only until {1}.',
          <b>{name}</b>,
          until.toLocaleTimeString(undefined, { timeStyle: 'short' }),
        )}
      </p>
      <button
        type="button"
        disabled={isEnding}
        onClick={() => {
          setIsEnding(true)
          end()
        }}
      >
        {t('End view')}
      </button>
    </section>
  )
}
