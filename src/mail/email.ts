// The layout of every email, as text and as HTML that old mail clients display, in the brand's
// colors and with its footer.
import { LINK_MESSAGES } from '#brand/link-messages.ts'
import { deriveTokens } from '#brand/tokens.ts'
import type { Config } from '#config/config.ts'
import { type Html, html } from '#platform/http/html.ts'
import type { Locale, Messages } from '#platform/locale.ts'

/** A composed email. */
export type Email = {
  to: string
  /** The user with this address; missing when the sender knows only the address. */
  userId?: string
  subject: string
  text: string
  html: string
  replyTo?: string
  /**
   * The URL of the mail client's unsubscribe button (RFC 8058), for emails that are not about the
   * account itself.
   */
  unsubscribeUrl?: string
}

/** The person who gets an email. */
export type Recipient = {
  /** The id of their account; null when they have none. */
  id: string | null
  email: string
  full_name: string | null
  /** Null: unknown. */
  locale: Locale | null
}

export type EmailParts = {
  to: string
  /** The language of the texts. */
  locale?: Locale
  subject: string
  /** Paragraphs before the button. */
  before: string[]
  button?: { label: string; url: string }
  /** Paragraphs after the button. */
  after?: string[]
  /** Name and value, in a table. */
  facts?: [name: string, value: string][]
  replyTo?: string
  unsubscribeUrl?: string
}

type Brand = Config['brand']

const OPEN_ADDRESS: Messages<string> = {
  en: 'Or open this address:',
  de: 'Oder öffnen Sie diese Adresse:',
}

/** The links below every email. */
const LEGAL = ['support', 'privacy', 'imprint'] as const

/** Composes an email. Everything in `parts` is text and is escaped. */
export function composeEmail(brand: Brand, parts: EmailParts): Email {
  const { to, locale = brand.language, subject, before, button, after = [], facts = [] } = parts
  const { replyTo, unsubscribeUrl } = parts
  const links = LEGAL.flatMap((name): [string, string][] => {
    const url = brand.findLink(name)
    return url === null ? [] : [[LINK_MESSAGES[locale][name], url]]
  })
  const footer = [brand.mailFooter, ...links.map(([label, url]) => `${label}: ${url}`)].filter(
    (line) => line !== null,
  )
  const text = [
    ...before,
    ...(facts.length > 0 ? [facts.map(([name, value]) => `${name}: ${value}`).join('\n')] : []),
    ...(button ? [`${button.label}:\n${button.url}`] : []),
    ...after,
    ...(footer.length > 0 ? [`--\n${footer.join('\n')}`] : []),
  ].join('\n\n')
  return {
    to,
    subject,
    text: `${text}\n`,
    html: renderLayout(brand, links, { ...parts, locale, facts, after }),
    ...(replyTo ? { replyTo } : {}),
    ...(unsubscribeUrl ? { unsubscribeUrl } : {}),
  }
}

/** Composes an email to a user in their language. */
export function composeEmailToUser(
  brand: Brand,
  user: Pick<Recipient, 'id' | 'email' | 'locale'>,
  parts: Omit<EmailParts, 'to' | 'locale'>,
): Email {
  const email = composeEmailTo(brand, user, parts)
  return user.id === null ? email : { ...email, userId: user.id }
}

/** Composes an email in the language of its recipient, who may have no account. */
export function composeEmailTo(
  brand: Brand,
  { email, locale }: Pick<Recipient, 'email' | 'locale'>,
  parts: Omit<EmailParts, 'to' | 'locale'>,
): Email {
  return composeEmail(brand, { to: email, locale: locale ?? brand.language, ...parts })
}

const CELL = 'padding:6px 12px 6px 0;vertical-align:top'

function renderLayout(
  brand: Brand,
  links: [label: string, url: string][],
  {
    locale,
    subject,
    before,
    facts,
    button,
    after,
  }: EmailParts & Required<Pick<EmailParts, 'locale' | 'facts' | 'after'>>,
): string {
  const colour = brand.mailColour
  const { bg, raised, text, text2 } = deriveTokens(brand.primary, 'light')
  const renderParagraph = (text: string): Html =>
    html`<p style="margin:0 0 16px;white-space:pre-line;overflow-wrap:anywhere">${text}</p>`
  return `<!doctype html>${
    html`<html lang="${locale}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${subject}</title></head>
<body style="margin:0;padding:32px 16px;background:${bg};color:${text};font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<div style="max-width:560px;margin:0 auto 16px;font-weight:700;font-size:18px">${renderSender(brand)}</div>
<div style="max-width:560px;margin:0 auto;padding:32px;background:${raised};border-radius:${brand.radius * 1.5}px">
<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${subject}</h1>
${before.map(renderParagraph)}
${facts.length > 0 && html`<table role="presentation" style="margin:0 0 16px;border-collapse:collapse">${facts.map(([name, value]) => html`<tr><td style="${CELL};color:${text2}">${name}</td><td style="${CELL};font-family:ui-monospace,monospace;overflow-wrap:anywhere">${value}</td></tr>`)}</table>`}
${
  button &&
  html`<p style="margin:24px 0"><a href="${button.url}" style="display:inline-block;padding:12px 24px;background:${colour};color:#ffffff;border-radius:${brand.radius}px;text-decoration:none;font-weight:600">${button.label}</a></p>
<p style="margin:0 0 16px;font-size:13px;color:${text2};word-break:break-all">${OPEN_ADDRESS[locale]} <a href="${button.url}" style="color:${colour}">${button.url}</a></p>`
}
${after.map(renderParagraph)}
</div>
${renderFooter(brand, links, text2)}
</body></html>`.markup
  }`
}

/** Mail clients show no SVG, so the name stands in for such a logo. */
function renderSender(brand: Brand): Html | string {
  const findUrl = (kind: 'light' | 'square') =>
    /jpeg|png/.test(brand.findImage(kind)?.type ?? '') ? brand.findImageUrl(kind) : null
  const [logo, icon] = [findUrl('light'), findUrl('square')]
  if (logo !== null)
    return html`<img src="${logo}" alt="${brand.name}" height="32" style="max-width:200px">`
  return icon === null
    ? brand.name
    : html`<img src="${icon}" alt="" width="28" height="28" style="margin-right:10px;vertical-align:middle">${brand.name}`
}

function renderFooter(brand: Brand, links: [label: string, url: string][], colour: string): Html {
  return html`<div style="max-width:560px;margin:16px auto 0;font-size:13px;color:${colour}">
${brand.mailFooter && html`<p style="margin:0 0 8px;white-space:pre-line">${brand.mailFooter}</p>`}
${links.map(([label, url]) => html`<a href="${url}" style="margin-right:16px;color:${colour}">${label}</a>`)}
</div>`
}
