import type { Body, Reply } from '../api/operation.ts'
import { createOfflineProblem, parseProblem } from '../api/problem.ts'
import type { TokenPair } from '../api/types.ts'
import { Session, type SessionMessage } from './session.ts'
import { openTokenStore, viewToken } from './token-store.ts'

const KEY = 'latchkey.refresh'
const RENEWAL = '/api/auth/refresh'

const channel = new BroadcastChannel('latchkey.session')

/** This browser's own session, also while this tab views another account. */
const ownSession = new Session({
  storage: openTokenStore(KEY, () => localStorage),
  // Web Locks exist on https and on localhost only. Without them, two tabs rely on the service's
  // grace: the same token gets the same successor within 10 s.
  lock: (work) => (navigator.locks ? navigator.locks.request('latchkey.renewal', work) : work()),
  renew,
  broadcast: (message) => channel.postMessage(message),
  now: () => Date.now(),
})

channel.addEventListener('message', (event: MessageEvent<SessionMessage>) => {
  ownSession.receive(event.data)
})
addEventListener('storage', (event) => {
  if (event.key === KEY || event.key === null) ownSession.storageChanged()
})

export const session = viewToken.read() === null ? ownSession : createViewSession()

/** A superuser views another account in this tab. */
function createViewSession(): Session {
  const view = import('./account-view.tsx').then(({ openView }) => openView(ownSession))
  return new Session({
    storage: {
      ...viewToken,
      clear: () => void view.then(({ leave }) => leave()),
    },
    lock: (work) => work(),
    renew: (token) => view.then((open) => open.renew(token)),
    broadcast() {},
    now: Date.now,
  })
}

async function renew(refreshToken: string): Promise<TokenPair | 'refused'> {
  let response: Response
  try {
    response = await fetch(RENEWAL, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ refresh_token: refreshToken } satisfies Body<'POST', typeof RENEWAL>),
    })
  } catch {
    throw createOfflineProblem()
  }
  if (response.ok) return (await response.json()) as Reply<'POST', typeof RENEWAL>
  if ([400, 401, 403, 422].includes(response.status)) return 'refused'
  throw parseProblem(response.status, await response.json().catch(() => null), response.headers)
}
