// One customer's writes, each recorded once acknowledged, and the inspection that all of them are
// stored.
import { randomBytes } from 'node:crypto'
import { call, until } from '../../src/cli/tour/client.ts'
import { pay } from '../../src/cli/tour/hosted-page.ts'

export type Places = { api: string; store: string }

/** The writes that the service has acknowledged, in order. */
export type Journal = {
  email: string
  password: string
  registered?: true
  verified?: true
  fullName?: string
  bought?: true
  keys: string[]
  documents: string[]
  purchased?: true
  contacted?: string
  revoked?: string
}

/** Runs until all writes are done or the service is killed. */
export async function walk({ api, store }: Places): Promise<Journal> {
  const journal: Journal = {
    email: `crash-${randomBytes(6).toString('hex')}@example.com`,
    password: randomBytes(12).toString('hex'),
    keys: [],
    documents: [],
  }
  try {
    const { email, password } = journal
    await call('POST', `${api}/api/auth/register`, { json: { email, password } }, [201])
    journal.registered = true

    const contact = randomBytes(6).toString('hex')
    await call('POST', `${store}/api/contact`, {
      json: { name: 'Crash', email, subject: 'support', message: `message ${contact}` },
    })
    journal.contacted = contact

    const link = await until(async () => {
      const mails = await readMails(api, email)
      return (
        mails
          .flatMap((mail) => mail.links)
          .find((candidate) => candidate.includes('/verify-email')) ?? null
      )
    })
    await call('POST', `${api}/api/auth/verify-email`, {
      json: { token: new URL(link).searchParams.get('token') },
    })
    journal.verified = true

    const token = await requestToken(api, journal)
    await call('PATCH', `${api}/api/users/me`, {
      bearer: token,
      json: { full_name: 'Crash Survivor' },
    })
    journal.fullName = 'Crash Survivor'

    const { body: plans } = await call('GET', `${api}/api/billing/plans`)
    const pro = (plans.plans as { tier: string; price_monthly?: string }[]).find(
      (plan) => plan.tier === 'pro',
    )
    const { body: checkout } = await call(
      'POST',
      `${api}/api/billing/create-checkout-session?price_id=${pro?.price_monthly}`,
      { bearer: token },
    )
    await pay(String(checkout.url))
    journal.bought = true
    await until(async () =>
      (await call('GET', `${api}/api/billing/subscription`, { bearer: token })).body.tier === 'pro'
        ? true
        : null,
    )

    for (let n = 0; n < 3; n++) {
      const { body: key } = await call(
        'POST',
        `${api}/api/api-keys`,
        { bearer: token, json: { name: `key ${n}` } },
        [201],
      )
      journal.keys.push(String(key.key))
      const content = `Document ${n} of ${email}. ${'It says something of no importance. '.repeat(60)}`
      const { body: document } = await call('POST', `${api}/api/rag/ingest/text`, {
        bearer: String(key.key),
        json: { content },
      })
      journal.documents.push((document.document_ids as string[])[0]?.split('_')[0] ?? '')
    }

    const session = await call('POST', `${store}/api/session`, { json: { email, password } })
    const cookie = (session.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
    const hosted = await call('GET', `${store}/api/checkout?tier=basic`, { cookie }, [302, 303])
    await pay(hosted.headers.get('location') ?? '')
    journal.purchased = true

    await until(async () =>
      JSON.parse((await call('GET', `${store}/api/purchases`, { cookie })).text).length > 0
        ? true
        : null,
    )
    await call('GET', `${store}/api/download`, { cookie })
  } catch {
    // The service was killed during a request that it had not acknowledged.
  }
  return journal
}

/** Returns missing and duplicate writes; empty when everything is correct. */
export async function inspect({ api, store }: Places, journal: Journal): Promise<string[]> {
  const wrong: string[] = []
  if (!journal.registered) return wrong

  const token = await requestToken(api, journal).catch((error: Error) => error)
  if (typeof token !== 'string') return [`the account cannot sign in: ${token.message}`]
  const { body: user } = await call('GET', `${api}/api/auth/me`, { bearer: token })
  if (journal.verified && user.is_verified !== true) wrong.push('the verification is lost')
  if (journal.fullName && user.full_name !== journal.fullName) wrong.push('the name is lost')

  const verifications = await countMails(api, journal.email, (mail) =>
    mail.links.some((link) => link.includes('/verify-email')),
  )
  if (verifications !== 1) wrong.push(`${verifications} verification mails instead of 1`)
  if (journal.contacted) {
    const { contacted } = journal
    const notifications = await countMails(api, '', (mail) =>
      mail.text.includes(`message ${contacted}`),
    )
    if (notifications !== 1) wrong.push(`${notifications} contact notifications instead of 1`)
  }
  if (journal.bought) {
    const tier = await until(async () => {
      const { body } = await call('GET', `${api}/api/billing/subscription`, { bearer: token })
      return body.tier === 'pro' ? 'pro' : null
    }).catch(() => 'free')
    if (tier !== 'pro') wrong.push('the paid subscription never arrived')
  }
  for (const key of journal.keys) {
    const { status } = await call(
      'POST',
      `${api}/api/rag/search`,
      { bearer: key, json: { query: 'importance' } },
      [200, 401, 403],
    )
    if (status !== 200) wrong.push(`a key answers ${status}`)
  }
  if (journal.documents.length > 0) {
    const { text } = await call('GET', `${api}/api/rag/documents?limit=100`, {
      bearer: journal.keys[0] ?? '',
    })
    const storedIds = (JSON.parse(text) as { id: string }[]).map((document) => document.id)
    for (const id of journal.documents)
      if (!storedIds.includes(id)) wrong.push(`document ${id} is lost`)
  }
  if (journal.purchased) {
    const session = await call('POST', `${store}/api/session`, {
      json: { email: journal.email, password: journal.password },
    })
    const cookie = (session.headers.getSetCookie()[0] ?? '').split(';')[0] ?? ''
    const purchases = await until(async () => {
      const list = JSON.parse(
        (await call('GET', `${store}/api/purchases`, { cookie })).text,
      ) as unknown[]
      return list.length > 0 ? list.length : null
    }).catch(() => 0)
    if (purchases !== 1) wrong.push(`${purchases} purchases instead of 1`)
    const receipts = await countMails(api, journal.email, (mail) => /LK-/.test(mail.text))
    if (receipts !== 1) wrong.push(`${receipts} purchase mails instead of 1`)
  }
  return wrong
}

type SandboxMail = { to: string; subject: string; text: string; links: string[] }

async function readMails(api: string, to: string): Promise<SandboxMail[]> {
  return JSON.parse(
    (await call('GET', `${api}/sandbox/mail.json${to ? `?to=${encodeURIComponent(to)}` : ''}`))
      .text,
  )
}

/**
 * Counts matching mails a second after the first has arrived, so that duplicates have time to
 * arrive.
 */
async function countMails(
  api: string,
  to: string,
  matches: (mail: SandboxMail) => boolean,
): Promise<number> {
  const count = async () => (await readMails(api, to)).filter(matches).length
  await until(async () => ((await count()) > 0 ? true : null)).catch(() => null)
  await new Promise((resolve) => setTimeout(resolve, 300))
  return count()
}

async function requestToken(api: string, { email, password }: Journal): Promise<string> {
  const { body } = await call('POST', `${api}/api/auth/login`, { json: { email, password } })
  return String(body.access_token)
}
