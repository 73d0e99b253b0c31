import { useQuery } from '@tanstack/react-query'
import { readinessQuery } from '../api/readiness.ts'

/**
 * Links to the sandbox's mailbox, which receives email outside production. Renders nothing without
 * the sandbox.
 */
export function SandboxMail() {
  const { data } = useQuery(readinessQuery)
  if (data?.mail !== 'sandbox') return null
  return (
    <span>
      Sandbox: open the email in{' '}
      <a href="/sandbox/mail" target="_blank" rel="noreferrer">
        the sandbox mailbox
      </a>
      .
    </span>
  )
}
