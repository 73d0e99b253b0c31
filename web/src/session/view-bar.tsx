import { IconEye } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { userQuery } from '../api/queries.ts'
import { ownSession, session } from './browser-session.ts'
import { parseClaims } from './token.ts'
import classes from './view-bar.module.css'

/** Shows on every page whose account a superuser views, and ends the view. */
export function ViewBar() {
  const { data } = useQuery(userQuery)
  const end = useMutation({ mutationFn: endView, onSettled: () => session.end() })
  const time = useQuery({ queryKey: ['view', 'end'], queryFn: readEnd, staleTime: Infinity })
  return (
    <section aria-label="View of another account" className={classes.bar}>
      <IconEye size={18} stroke={1.7} aria-hidden />
      <p role="status">
        Viewing as <b>{data ? (data.full_name ?? data.email) : '…'}</b>. Read-only
        {time.data && ` until ${time.data}`}.
      </p>
      <button type="button" disabled={end.isPending} onClick={() => end.mutate()}>
        End view
      </button>
    </section>
  )
}

async function readEnd(): Promise<string> {
  const end = parseClaims(await session.token())?.exp ?? 0
  return new Date(end * 1000).toLocaleTimeString(undefined, { timeStyle: 'short' })
}

/** The view's own token cannot end it, because it cannot write. */
async function endView(): Promise<void> {
  const token = await ownSession.token()
  if (token === null) return
  await fetch('/api/admin/view', {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  })
}
