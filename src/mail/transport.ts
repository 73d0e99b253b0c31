import type { Config } from '#config/config.ts'
import { NeighbourAway } from '#platform/jobs/neighbours.ts'
import type { Email } from './email.ts'

export type Envelope = Email & { from: string; messageId: string }

export type Transport = {
  /** @throws NeighbourAway when the server does not answer. */
  send(envelope: Envelope): Promise<void>
  /** Returns true when the server answers, even with an error. */
  answers(): Promise<boolean>
  close(): void
}

const SEND_TIMEOUT_MS = 20_000
/** Some servers delay their greeting to deter spammers; connecting is always fast. */
const LIMITS = {
  connectionTimeout: 5_000,
  greetingTimeout: SEND_TIMEOUT_MS,
  socketTimeout: SEND_TIMEOUT_MS,
}
/**
 * Nodemailer's codes of failures without a reply; failures with a reply also have a `responseCode`.
 */
const SILENCES = ['ECONNECTION', 'ESOCKET', 'ETIMEDOUT', 'EDNS']

export function createTransport(config: Pick<Config, 'mail' | 'sandbox'>): Transport {
  if (config.mail.smtpUrl !== null) return smtpTransport(config.mail.smtpUrl)
  if (config.mail.sandboxed) return sandboxTransport(`${config.sandbox.url}/mail`)
  return {
    async send() {
      throw new Error('mail is not configured: set SMTP_URL')
    },
    answers: async () => true,
    close() {},
  }
}

function smtpTransport(url: string): Transport {
  // Loaded with the first email; pooled, so that a burst shares connections.
  const opened = import('nodemailer').then(({ createTransport }) =>
    createTransport({
      url,
      pool: true,
      // The number of emails that the lanes send at once.
      maxConnections: 4,
      // A broken connection is reported, and the job retries; the pool's own five retries would be
      // uncounted.
      maxRequeues: 0,
      ...LIMITS,
    } as never),
  )
  const answers = () =>
    connect(url, LIMITS).then(
      () => true,
      (error) => !isSilence(error),
    )
  return {
    answers,
    async send({ from, to, subject, text, html, messageId, replyTo, unsubscribeUrl }) {
      const transporter = await opened
      // A string would be parsed as a list: one comma could add a recipient.
      const sent = transporter.sendMail({
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
      await sent.catch(async (error) => {
        // If the server still answers, the broken connection is this email's own failure.
        if (!isSilence(error) || (await answers())) throw error
        throw new NeighbourAway('the mail server does not answer', { cause: error })
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
      if (response.ok) return
      const words = (await response.text()).slice(0, 300)
      // The mailbox rejects an address in the words of a mail server.
      throw new Error(
        /^5\d\d /.test(words) ? words : `the sandbox mailbox answered ${response.status}: ${words}`,
      )
    },
    answers: async () => true,
    close() {},
  }
}

/**
 * Connects to the mail server, signs in if the URL has credentials, and disconnects.
 * @throws Error with the server's answer.
 */
export async function checkSmtp(url: string, timeoutMs: number): Promise<void> {
  await connect(url, {
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  })
}

async function connect(url: string, limits: typeof LIMITS): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transporter = createTransport({ url, ...limits } as never)
  try {
    await transporter.verify()
  } finally {
    transporter.close()
  }
}

const isSilence = ({
  code,
  responseCode,
}: Error & { code?: string; responseCode?: number }): boolean =>
  responseCode === undefined && SILENCES.includes(code ?? '')
