import { useQuery } from '@tanstack/react-query'
import { readinessQuery } from '../api/readiness.ts'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'

/**
 * Links to the sandbox's mailbox, which receives email outside production. Renders nothing without
 * the sandbox.
 */
export function SandboxMail() {
  const { data } = useQuery(readinessQuery)
  if (data?.mail !== 'sandbox') return null
  return (
    <span>
      {rich(
        'Sandbox: open the email in {0}.',
        <a href="/sandbox/mail" target="_blank" rel="noreferrer">
          {t('the sandbox mailbox')}
        </a>,
      )}
    </span>
  )
}
