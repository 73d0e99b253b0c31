/**
 * Sends a test email through a mail server before the service uses it.
 * The trap: options in an SMTP URL can make the client start a program or skip certificates. So
 * callers pass fields, and only this file builds the URL.
 */
import { randomUUID } from 'node:crypto'
import type { Config } from '#config/config.ts'
import { composeEmail, type Email, type Recipient } from '#mail/email.ts'
import { formatSender } from '#mail/mail.ts'
import { createTransport } from '#mail/transport.ts'
import { isLoopbackHost } from '#platform/http/loopback.ts'
import { getSetupMessages } from './messages.ts'
import { setupProblem } from './problems.ts'
import type { Changes } from './saved-settings.ts'

export type MailServer = {
  host: string
  port: number
  /** `tls`: from the first byte. `starttls`: required before anything else is sent. */
  encryption: 'tls' | 'starttls'
  user?: string
  password?: string
  fromName?: string
  fromAddress: string
}

export function buildMailSettings(server: MailServer): Changes {
  const { host, port, encryption, user, password, fromName, fromAddress } = server
  const credentials =
    user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`
  const isTls = encryption === 'tls'
  // A server on this machine often has no certificate.
  const options = isTls || isLoopbackHost(host) ? '' : '?requireTLS=true'
  return {
    SMTP_URL: `${isTls ? 'smtps' : 'smtp'}://${credentials}${host}:${port}${options}`,
    MAIL_FROM: fromName === undefined ? fromAddress : `${fromName} <${fromAddress}>`,
  }
}

/** @throws Problem 422 with the server's reply */
export async function sendTestEmail(
  { brand }: Pick<Config, 'brand'>,
  candidate: Config,
  to: Pick<Recipient, 'email' | 'locale'>,
): Promise<void> {
  const { mail, urls } = candidate
  const from = formatSender({ brand, mail })
  const transport = createTransport(candidate)
  const email = composeTestEmail({ brand, urls }, to, from)
  try {
    const messageId = `<${randomUUID()}@${new URL(urls.base).hostname}>`
    await transport.send({ from, messageId, ...email })
  } catch (error) {
    throw setupProblem('test_email_failed', { reason: describeFailure(error) }, { cause: error })
  } finally {
    transport.close()
  }
}

export function composeTestEmail(
  { brand, urls }: Pick<Config, 'brand' | 'urls'>,
  to: Pick<Recipient, 'email' | 'locale'>,
  from: string,
): Email {
  const locale = to.locale ?? brand.language
  const text = getSetupMessages(locale).test
  return composeEmail(brand, {
    to: to.email,
    locale,
    subject: text.subject(brand.name),
    before: [text.before],
    facts: [[text.from, from]],
    button: { label: text.button, url: `${urls.frontend}/run/setup` },
  })
}

type SmtpError = Error & { code?: string; responseCode?: number; response?: string }

const REASONS: Readonly<Record<string, string>> = {
  EDNS: 'its name is unknown',
  ECONNECTION: 'it cannot be reached',
  ESOCKET: 'it cannot be reached, or its certificate is not valid',
  ETIMEDOUT: 'it does not answer',
  ETLS: 'it offers no encryption',
  EAUTH: 'it rejects the user or the password',
}

/**
 * Repeats the words of mail servers only. Without this check, the page would show the banner of any
 * service that the operator's network hides.
 */
function describeFailure(error: unknown): string {
  const { code = '', responseCode, response } = findCause(error)
  if (responseCode !== undefined && /^[2-5]\d\d[ -]/.test(response ?? ''))
    return String(response)
      .replace(/[^ -~]+/g, ' ')
      .slice(0, 200)
  return REASONS[code] ?? 'it does not answer like a mail server'
}

function findCause(error: unknown): SmtpError {
  const { cause } = error as Error
  return (cause instanceof Error ? cause : error) as SmtpError
}
