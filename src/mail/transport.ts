import type { Config } from '../config.ts'
import type { Email } from './email.ts'

export type Envelope = Email & { from: string; messageId: string }

export type Transport = { send(envelope: Envelope): Promise<void>; close(): void }

const SEND_TIMEOUT_MS = 20_000

export function createTransport(config: Pick<Config, 'mail' | 'sandbox'>): Transport {
  if (config.mail.smtpUrl !== null) return smtpTransport(config.mail.smtpUrl)
  if (config.mail.sandboxed) return sandboxTransport(`${config.sandbox.url}/mail`)
  return {
    async send() {
      throw new Error('mail is not configured: set SMTP_URL')
    },
    close() {},
  }
}

function smtpTransport(url: string): Transport {
  // Loaded at the first email; pooled, so that a burst shares connections.
  const opened = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      url,
      pool: true,
      // As many as the lanes of mail run at once.
      maxConnections: 4,
      connectionTimeout: SEND_TIMEOUT_MS,
      socketTimeout: SEND_TIMEOUT_MS,
    } as never),
  )
  return {
    async send({ from, to, subject, text, html, messageId, replyTo, unsubscribeUrl }) {
      const transporter = await opened
      // A string address would be parsed as a list: one comma could add a recipient.
      await transporter.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        messageId,
        ...(replyTo ? { replyTo: { name: '', address: replyTo } } : {}),
        ...(unsubscribeUrl
          ? {
              headers: {
                'List-Unsubscribe': `<${unsubscribeUrl}>`,
                'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
              },
            }
          : {}),
      })
    },
    close: () => void opened.then((transporter) => transporter.close()),
  }
}

function sandboxTransport(mailboxUrl: string): Transport {
  return {
    async send({ messageId, ...email }) {
      const response = await fetch(mailboxUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id: messageId, ...email }),
        signal: AbortSignal.timeout(SEND_TIMEOUT_MS),
      })
      if (!response.ok) throw new Error(`the sandbox mailbox answered ${response.status}`)
    },
    close() {},
  }
}

/** Connects to the mail server, signs in where the address says so, and leaves. @throws Error with what it answered. */
export async function reachSmtp(url: string, timeoutMs: number): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const limits = { connectionTimeout: timeoutMs, greetingTimeout: timeoutMs, socketTimeout: timeoutMs }
  const transporter = createTransport({ url, ...limits } as never)
  try {
    await transporter.verify()
  } finally {
    transporter.close()
  }
}
