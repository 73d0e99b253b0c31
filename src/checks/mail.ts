import type { Config } from '#config/config.ts'
import { checkSmtp } from '#mail/transport.ts'
import { ASK_TIMEOUT_MS, createLines, inTime, type Line } from './line.ts'

/** Connects and signs in at the mail server; no email is sent. */
export async function checkMail({ mail: { smtpUrl, sandboxed, from } }: Config): Promise<Line> {
  const { ok, off, wrong, sandbox } = createLines('Mail')
  if (sandboxed) return sandbox('no SMTP_URL; emails go to /sandbox/mail')
  if (smtpUrl === null) return off('SMTP_URL is not set: verification links are not sent')
  const { host } = new URL(smtpUrl)
  try {
    await inTime(checkSmtp(smtpUrl, ASK_TIMEOUT_MS))
    return ok(`from ${from}, by ${host}`)
  } catch (error) {
    return wrong(`${host} rejects the connection: ${(error as Error).message}`)
  }
}
