import { SimpleGrid, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { formatCompact, formatCount } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { Stat } from '../components/stat.tsx'
import { useUser } from '../session/user.ts'
import { AllowanceLeft } from '../usage/allowance-left.tsx'
import { usageQuery } from '../usage/usage-query.ts'
import { NextSteps } from './next-steps.tsx'
import { PaymentConfirmation } from './payment-confirmation.tsx'
import { PlanPanel } from './plan-panel.tsx'
import { useSteps } from './use-steps.ts'

const route = getRouteApi('/app/dashboard')

export function DashboardPage() {
  const { success } = route.useSearch()
  const user = useUser()
  const usage = useQuery(usageQuery(30, 'day'))
  const steps = useSteps(usage)
  const first = user.full_name?.split(' ')[0]

  return (
    <Page
      title={first ? `Hello, ${first}` : 'Hello'}
      lead="Your plan, the last 30 days and next steps."
    >
      {success && <PaymentConfirmation />}
      <PlanPanel />
      <Loaded
        query={usage}
        skeleton={
          <SimpleGrid cols={{ base: 1, xs: 3 }} my="md">
            <Skeleton h={104} />
            <Skeleton h={104} />
            <Skeleton h={104} />
          </SimpleGrid>
        }
      >
        {({ totals }) => (
          <SimpleGrid cols={{ base: 1, xs: 3 }} my="md">
            <Stat label="Requests">{formatCount(totals.requests)}</Stat>
            <Stat label="Tokens">{formatCompact(totals.total_tokens)}</Stat>
            <AllowanceLeft />
          </SimpleGrid>
        )}
      </Loaded>
      {steps && <NextSteps steps={steps} />}
    </Page>
  )
}
