/**
 * A superuser's view of another account, in this tab alone. Loads only while a view is open, and
 * draws its bar in a root of its own, so that every page has it.
 */
import { IconEye } from '@tabler/icons-react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { queries, userQuery } from '../api/queries.ts'
import type { TokenPair, User } from '../api/types.ts'
import classes from './account-view.module.css'
import { ownSession, session, VIEW_KEY } from './browser-session.ts'
import { parseClaims } from './token.ts'

let isRenewed = false
void showBar()

/** The token is never renewed. When a request needs another one, the view is over. */
export async function renewView(token: string): Promise<TokenPair | 'refused'> {
  if (isRenewed) return 'refused'
  isRenewed = true
  return { access_token: token, refresh_token: token }
}

/** Loads the tab anew under the superuser's own session. */
export function leaveView(): void {
  const viewed = session.userId()
  sessionStorage.removeItem(VIEW_KEY)
  location.replace(`/customers/${viewed}`)
}

async function showBar(): Promise<void> {
  const place = document.body.appendChild(document.createElement('div'))
  const root = createRoot(place)
  root.render(<ViewBar user={null} />)
  const user = await queries.ensureQueryData(userQuery).catch(() => null)
  root.render(<ViewBar user={user} />)
}

function ViewBar({ user }: { user: User | null }) {
  const [isEnding, setIsEnding] = useState(false)
  const end = () => {
    setIsEnding(true)
    void endView().finally(leaveView)
  }
  return (
    <section aria-label="View of another account" className={classes.bar}>
      <IconEye size={18} stroke={1.7} aria-hidden />
      <p role="status">
        Viewing as <b>{user ? (user.full_name ?? user.email) : '…'}</b>. Read-only until {readEnd()}
        .
      </p>
      <button type="button" disabled={isEnding} onClick={end}>
        End view
      </button>
    </section>
  )
}

function readEnd(): string {
  const end = parseClaims(sessionStorage.getItem(VIEW_KEY))?.exp ?? 0
  return new Date(end * 1000).toLocaleTimeString(undefined, { timeStyle: 'short' })
}

/** The token of the view cannot end it, because it changes nothing. */
async function endView(): Promise<void> {
  const token = await ownSession.token()
  if (token === null) return
  await fetch('/api/admin/view', {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })
}
