import { Button, Group, Text } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { IconGauge } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { formatDollars } from '../components/format.ts'
import { LinkButton } from '../components/links.tsx'
import { allowanceQuery, describeRenewal } from '../usage/usage-query.ts'
import classes from './bar.module.css'

/** That most of the period's dollars, or all, are used; until it is put away, once for each. */
export function AllowanceBar() {
  const { data } = useQuery({ ...allowanceQuery, staleTime: 60_000 })
  const [putAway, setPutAway] = useLocalStorage({
    key: 'allowance-bar',
    defaultValue: '',
    getInitialValueInEffect: false,
  })
  const percent = data?.alerts.at(-1)?.percent
  if (data?.limit_usd == null || percent === undefined) return null
  const name = `${data.period_start} ${data.limit_usd} ${percent}`
  // Of a smaller plan's dollars before the plan was changed.
  if (putAway === name || data.used_usd < data.limit_usd * 0.8) return null
  return (
    <section aria-label="Your allowance" className={classes.bar}>
      <IconGauge size={20} stroke={1.6} aria-hidden className={classes.icon} />
      <Text size="sm" component="div" role="status" flex={1} miw={220}>
        {percent === 100
          ? `Your allowance is used up. Calls that cost something are refused until it renews: it ${describeRenewal(data.renews_at)}.`
          : `${formatDollars(data.used_usd)} of this period’s ${formatDollars(data.limit_usd)} are used.`}
      </Text>
      <Group gap={0}>
        <LinkButton to="/usage" variant="subtle" color="brass">
          See usage
        </LinkButton>
        <Button variant="subtle" color="brass" onClick={() => setPutAway(name)}>
          Put away
        </Button>
      </Group>
    </section>
  )
}
