import { Badge, Box, Group, List, Paper, Text, ThemeIcon, Title } from '@mantine/core'
import { IconCheck } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { Plan } from '../api/types.ts'
import { formatMoney } from '../components/format.ts'
import { t } from '../language/text.ts'
import { translateFeature } from './feature-text.ts'
import classes from './plan-card.module.css'
import { computePrice, type Period } from './price.ts'

type PlanCardProps = {
  plan: Plan
  period: Period
  order?: 2 | 3
  featured?: boolean
  current?: boolean
  action?: ReactNode
}

export function PlanCard({
  plan,
  period,
  order = 2,
  featured = false,
  current = false,
  action,
}: PlanCardProps) {
  const { amount, currency, per, saving } = computePrice(plan, period)
  return (
    <Paper
      component="article"
      withBorder
      className={classes.card}
      data-featured={featured || undefined}
    >
      <Group justify="space-between" mih={28}>
        <Title order={order} fz="h3" className={classes.name ?? ''}>
          {plan.name}
        </Title>
        {current && <Badge color="brass">{t('Your plan')}</Badge>}
      </Group>
      <Group align="baseline" gap={6} my="sm">
        <Text component="span" className={classes.price}>
          {amount === null ? '—' : formatMoney(amount, currency)}
        </Text>
        <Text component="span" c="dimmed">
          {amount === null ? t('price at checkout') : per}
        </Text>
        {plan.trial_days > 0 && (
          <Badge color="brass">{t('{0}-day free trial', plan.trial_days)}</Badge>
        )}
        {saving !== null && <Badge color="pine">{t('{0} % off', Math.round(100 * saving))}</Badge>}
      </Group>
      <List
        spacing={8}
        styles={{ itemWrapper: { alignItems: 'flex-start' }, itemIcon: { marginTop: 2 } }}
        icon={
          <ThemeIcon size={20} radius="xl" variant="light" aria-hidden>
            <IconCheck size={13} />
          </ThemeIcon>
        }
      >
        {plan.features.map((feature) => (
          <List.Item key={feature}>{translateFeature(feature)}</List.Item>
        ))}
      </List>
      {action && <Box className={classes.action}>{action}</Box>}
    </Paper>
  )
}
