import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { readinessQuery } from '../api/readiness.ts'

/** Outside production mail goes to the sandbox's mailbox: says so, and where that is. Nothing where the sandbox is off. */
export function SandboxMail() {
  const { data } = useQuery(readinessQuery)
  if (data?.mail !== 'sandbox') return null
  return (
    <span>
      This is a sandbox: mail stays in{' '}
      <Anchor href="/sandbox/mail" target="_blank" inherit underline="always">
        the sandbox mailbox
      </Anchor>
      .
    </span>
  )
}
