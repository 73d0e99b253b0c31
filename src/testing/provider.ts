// Signs in through the sandbox's Google or GitHub like a browser with cookies.
import type { Client, Reply, TestApp } from './app.ts'

export type Choice = { email: string; name?: string; verified?: boolean; refuse?: boolean }

export type StartedWalk = { cookie: string; authorization: URL; state: string }

/** Asks the service where to go; with a client, to link the provider to its account. */
export async function startAtProvider(
  app: TestApp,
  provider: string,
  linkTo?: Client,
): Promise<StartedWalk> {
  const started = linkTo
    ? await linkTo.post(`/api/users/me/oauth/${provider}`)
    : await app.get(`/api/auth/oauth/${provider}`)
  if (started.status !== 200)
    throw new Error(`starting at ${provider}: ${started.status} ${started.text}`)
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  return {
    cookie,
    authorization: new URL(started.body.authorization_url),
    state: started.body.state,
  }
}

/**
 * Chooses an account in the provider's chooser; returns our callback's address, with what the
 * provider says.
 */
export async function chooseAccount(
  app: TestApp,
  { authorization }: StartedWalk,
  choice: Choice,
): Promise<URL> {
  const form = new URLSearchParams(authorization.searchParams)
  form.set('email', choice.email)
  form.set('name', choice.name ?? 'Someone')
  if (choice.verified ?? true) form.set('verified', 'yes')
  if (choice.refuse) form.set('refuse', 'yes')
  const reply = await app.request('POST', authorization.pathname, { body: form })
  return new URL(reply.headers.get('location') ?? '')
}

/** The whole way; the reply is the callback's, `target` where it sends the browser. */
export async function throughProvider(
  app: TestApp,
  provider: string,
  choice: Choice,
  linkTo?: Client,
): Promise<{ reply: Reply; target: URL }> {
  const walk = await startAtProvider(app, provider, linkTo)
  const back = await chooseAccount(app, walk, choice)
  const reply = await app.get(back.pathname + back.search, { headers: { cookie: walk.cookie } })
  return { reply, target: new URL(reply.headers.get('location') ?? 'none:') }
}
