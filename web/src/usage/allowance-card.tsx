import { Card, Group, Progress, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { keysQuery } from '../api/queries.ts'
import type { Allowance, KeyAllowance } from '../api/types.ts'
import { formatDollars, formatTime, formatUtcDay } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { rich } from '../language/rich.ts'
import { t } from '../language/text.ts'
import { useUser } from '../session/user.ts'
import { useRenewal } from './renewal.ts'
import { allowanceQuery } from './usage-query.ts'

/** Remaining allowance of this period and of each key with a spending limit. */
export function AllowanceCard() {
  const allowance = useQuery(allowanceQuery)
  return (
    <Loaded query={allowance} skeleton={<Skeleton h={96} />}>
      {(data) =>
        data.limit_usd === null && data.keys.length === 0 ? null : (
          <Card component="section" aria-label={t('Allowance')}>
            {<Meters allowance={data} />}
          </Card>
        )
      }
    </Loaded>
  )
}

function Meters({ allowance }: { allowance: Allowance }) {
  const { limit_usd, used_usd, reserved_usd, renews_at, keys, alerts } = allowance
  const renewal = useRenewal(renews_at)
  const isGranted = useUser().entitlements.includes('api_keys')
  const { data } = useQuery({ ...keysQuery, enabled: keys.length > 0 && isGranted })
  const getKeyName = ({ id }: KeyAllowance) =>
    data?.find((key) => key.id === id)?.name ?? `${id.slice(0, 8)}…`
  return (
    <Stack>
      {limit_usd !== null && (
        <Meter
          name={t('This period')}
          used={used_usd}
          held={reserved_usd}
          limit={limit_usd}
          renews={renewal}
        />
      )}
      {alerts.map(({ percent, at }) => (
        <Text key={at + percent} c="dimmed" size="sm">
          {t(
            '{0} on {1}; we emailed you.',
            percent === 100 ? t('Used up') : t('{0} % used', percent),
            formatTime(at),
          )}
        </Text>
      ))}
      {keys.map((key) => (
        <Meter
          key={key.id}
          name={getKeyName(key)}
          used={key.used_usd}
          held={0}
          limit={key.limit_usd}
          renews={t('API key limit, renews on {0}', formatUtcDay(key.period_end))}
        />
      ))}
    </Stack>
  )
}

type MeterProps = { name: string; used: number; held: number; limit: number; renews: string }

function Meter({ name, used, held, limit, renews }: MeterProps) {
  const computeShare = (amount: number) =>
    limit === 0 ? 100 : Math.min(100, (amount / limit) * 100)
  const left = Math.max(0, limit - used - held)
  const color = computeShare(used) >= 100 ? 'red' : computeShare(used) >= 80 ? 'brass' : 'pine'
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={6}>
        <Text fw={550} style={{ overflowWrap: 'anywhere' }}>
          {name}
        </Text>
        <Text className="numbers">
          {t('{0} left of {1}', formatDollars(roundDown(left)), formatDollars(limit))}
        </Text>
      </Group>
      <Progress.Root size="lg">
        <Progress.Section
          value={computeShare(used)}
          color={color}
          aria-label={t('{0}: used', name)}
        />
        {held > 0 && (
          <Progress.Section
            value={computeShare(held)}
            color="gray"
            aria-label={t('{0}: reserved by running calls', name)}
          />
        )}
      </Progress.Root>
      <Text c="dimmed" size="sm" mt={4}>
        {rich(
          '{0} used{1}; {2}',
          formatDollars(used),
          held > 0 && t(', {0} reserved by running calls', formatDollars(held)),
          renews,
        )}
      </Text>
    </div>
  )
}

/** Rounds down, so that the page never promises money that is not left. */
function roundDown(amount: number): number {
  return amount < 1 ? amount : Math.floor(amount * 100) / 100
}
