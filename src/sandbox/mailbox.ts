// The mailbox: stores outgoing emails once per Message-ID and shows them to users and tests. Trap:
// an email's HTML is untrusted; it is served separately, with a policy that forbids scripts and
// loading.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Clock } from '#platform/clock.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { SandboxDatabase } from './database.ts'
import { notFound, show, time } from './page.ts'
import { OPEN } from './route.ts'

type Deps = { db: SandboxDatabase; clock: Clock }

type Mail = {
  seq: number
  id: string
  sender: string
  recipient: string
  subject: string
  text: string
  html: string
  at: string
}

export type Posted = {
  id: string
  from: string
  to: string
  subject: string
  text: string
  html: string
}

const LISTED_MAX = 200
/** No address of this domain exists (RFC 2606), so it shows what happens to refused emails. */
const UNKNOWN_DOMAIN = /\.invalid$/i

export function mailboxRoutes(app: FastifyInstance, deps: Deps): void {
  app.post<{ Body: Posted }>(
    '/mail',
    { ...OPEN, schema: { body: POSTED, hide: true }, bodyLimit: 4 * 1024 * 1024 },
    (request, reply) => {
      if (UNKNOWN_DOMAIN.test(request.body.to))
        return reply.code(422).send('550 5.1.2 The domain of the address does not exist')
      const fresh = keep(deps, request.body)
      return reply.code(fresh ? 201 : 200).send({ id: request.body.id, duplicate: !fresh })
    },
  )

  app.get<{ Querystring: { to?: string } }>('/mail.json', OPEN, (request) =>
    recent(deps.db, readAddress(request.query)).map((mail) => ({
      id: mail.id,
      to: mail.recipient,
      subject: mail.subject,
      text: mail.text,
      html: mail.html,
      links: findLinks(mail),
      at: mail.at,
    })),
  )

  app.get<{ Querystring: { to?: string } }>('/mail', OPEN, (request, reply) => {
    const mails = recent(deps.db, readAddress(request.query))
    return showMailbox(reply, mails, undefined, 'html')
  })

  app.get<{ Params: { seq: string }; Querystring: { view?: string } }>(
    '/mail/:seq',
    OPEN,
    (request, reply) => {
      const mail = find(deps.db, request.params.seq)
      if (!mail) return notFound(reply, 'mail', 'mail')
      return showMailbox(
        reply,
        recent(deps.db),
        mail,
        request.query.view === 'text' ? 'text' : 'html',
      )
    },
  )

  app.get<{ Params: { seq: string } }>('/mail/:seq/body', OPEN, (request, reply) => {
    const mail = find(deps.db, request.params.seq)
    if (!mail) return notFound(reply, 'mail', 'mail')
    // `sandbox` gives the page a separate origin. Links may leave the frame, because a person
    // clicks them.
    const policy =
      "sandbox allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation; default-src 'none'; " +
      "style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'"
    return reply
      .header('content-security-policy', policy)
      .header('x-frame-options', 'SAMEORIGIN')
      .type('text/html; charset=utf-8')
      .send(`<!doctype html><base target="_top">${mail.html}`)
  })

  app.post('/mail/clear', OPEN, (_request, reply) => {
    deps.db.exec('delete from mails')
    return reply.redirect('/sandbox/mail', 303)
  })
}

const POSTED = Type.Object({
  id: Type.String({ minLength: 1 }),
  from: Type.String({ default: '' }),
  to: Type.String({ minLength: 1 }),
  subject: Type.String(),
  text: Type.String(),
  html: Type.String({ default: '' }),
})

const readAddress = ({ to }: { to?: unknown }) => (typeof to === 'string' ? to : undefined)

/** Returns false when a mail with this Message-ID exists. */
export function keep({ db, clock }: Deps, mail: Posted): boolean {
  const { changes } = db
    .prepare(
      `insert into mails (id, sender, recipient, subject, text, html, at) values (?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do nothing`,
    )
    .run(mail.id, mail.from, mail.to, mail.subject, mail.text, mail.html, clock.now())
  return changes === 1
}

/**
 * Lists emails, newest first. `to` ignores case and matches the address inside `Name <address>`.
 */
export function recent(db: SandboxDatabase, to?: string): Mail[] {
  if (!to)
    return db.prepare('select * from mails order by seq desc limit ?').all(LISTED_MAX) as Mail[]
  return db
    .prepare(
      `select * from mails where recipient = ?1 collate nocase or lower(recipient) like '%<' || lower(?2) || '>%' escape '\\'
       order by seq desc limit ?3`,
    )
    .all(to, to.replace(/[\\%_]/g, '\\$&'), LISTED_MAX) as Mail[]
}

function find(db: SandboxDatabase, seq: string): Mail | undefined {
  return db
    .prepare('select * from mails where seq = ?')
    .get(/^\d{1,15}$/.test(seq) ? Number(seq) : -1) as Mail | undefined
}

/** Returns the URLs of the text, then those of the HTML, in order and without duplicates. */
export function findLinks(mail: { text: string; html: string }): string[] {
  const inText = [...mail.text.matchAll(ADDRESS)].map(([url]) => url.replace(/[.,;:!?]+$/, ''))
  const inHtml = [...mail.html.matchAll(/href\s*=\s*(?:"([^"]*)"|'([^']*)')/gi)].map((match) =>
    decodeEntities(match[1] ?? match[2] ?? ''),
  )
  return [...new Set([...inText, ...inHtml.filter((url) => /^https?:/i.test(url))])]
}

const ADDRESS = /https?:\/\/[^\s<>"')\]]+/g

function decodeEntities(text: string): string {
  return text
    .replace(/&#(\d{1,6});/g, (_, code: string) =>
      String.fromCodePoint(Math.min(Number(code), 0x10ffff)),
    )
    .replace(/&#x([0-9a-f]{1,5});/gi, (_, code: string) =>
      String.fromCodePoint(Math.min(Number.parseInt(code, 16), 0x10ffff)),
    )
    .replace(/&quot;/g, '"')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&amp;/g, '&')
}

function showMailbox(
  reply: FastifyReply,
  mails: Mail[],
  open: Mail | undefined,
  view: 'html' | 'text',
) {
  const main = html`
<div class="between"><h1>Mailbox</h1>${
    mails.length > 0
      ? html`<form method="post" action="/sandbox/mail/clear"><button class="plain">Delete all emails</button></form>`
      : ''
  }</div>
${
  mails.length === 0
    ? html`<div class="card"><h2>No emails yet</h2>
<p class="quiet">The service’s emails appear here: verification links, password resets, receipts and contact messages. <a href="/sandbox/mail">Refresh</a></p></div>`
    : html`<div class="mail">
<nav class="card flush" aria-label="Emails"><ul class="mails">${mails.map((mail) => entry(mail, open))}</ul></nav>
${open ? mailView(open, view) : html`<div class="card quiet">Select an email. <a href="/sandbox/mail">Refresh</a></div>`}
</div>`
}`
  return show(reply, { title: open ? open.subject : 'Mailbox', place: 'mail', main })
}

const entry = (mail: Mail, open: Mail | undefined): Html =>
  html`<li><a href="/sandbox/mail/${mail.seq}"${
    mail.seq === open?.seq ? html` aria-current="true"` : ''
  }><strong>${mail.subject || '(no subject)'}</strong><span class="small quiet">${mail.recipient}<br>${time(mail.at)}</span></a></li>`

function mailView(mail: Mail, view: 'html' | 'text'): Html {
  const here = `/sandbox/mail/${mail.seq}`
  const shown = mail.html === '' ? 'text' : view
  const links = findLinks(mail)
  return html`<article class="card flush" aria-labelledby="subject">
<div class="head"><h2 id="subject">${mail.subject || '(no subject)'}</h2>
<p class="small quiet">From ${mail.sender || 'the service'}<br>To ${mail.recipient}<br>${time(mail.at)}</p></div>
<nav class="tabs" aria-label="View">
${mail.html === '' ? '' : html`<a href="${here}"${shown === 'html' ? html` aria-current="page"` : ''}>HTML</a>`}
<a href="${here}?view=text"${shown === 'text' ? html` aria-current="page"` : ''}>Text</a></nav>
${
  shown === 'html'
    ? html`<iframe src="${here}/body" title="Email as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox allow-top-navigation-by-user-activation"></iframe>`
    : html`<div class="inside"><pre>${linked(mail.text)}</pre></div>`
}
${links.length > 0 ? html`<div class="inside"><h3>Links</h3><ul>${links.map((url) => html`<li><a class="mono" href="${url}">${url}</a></li>`)}</ul></div>` : ''}
</article>`
}

function linked(text: string): Html[] {
  const parts: Html[] = []
  let from = 0
  for (const match of text.matchAll(ADDRESS)) {
    const url = match[0].replace(/[.,;:!?]+$/, '')
    parts.push(html`${text.slice(from, match.index)}<a href="${url}">${url}</a>`)
    from = match.index + url.length
  }
  parts.push(html`${text.slice(from)}`)
  return parts
}

/** Returns the emails that arrived after a position, oldest first. */
export function listNewMails(db: SandboxDatabase, seq: number): Mail[] {
  return db.prepare('select * from mails where seq > ? order by seq').all(seq) as Mail[]
}
