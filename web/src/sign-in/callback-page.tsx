import { Center, Loader } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Door } from '../parts/door.tsx'
import { arrive } from '../session/arrive.ts'
import { arrived } from './arrival.ts'
import { takeReturn } from './return-memory.ts'

/** Where an OAuth sign-in comes back to. */
export function CallbackPage() {
  const navigate = useNavigate()

  useEffect(() => {
    if (arrived) {
      arrive(arrived)
      void navigate({ href: takeReturn(), replace: true })
    } else {
      void navigate({ to: '/login', search: { error: 'provider_error' }, replace: true })
    }
  }, [navigate])

  return (
    <Door title="Signing you in">
      <Center>
        <Loader aria-label="Signing you in" />
      </Center>
    </Door>
  )
}
