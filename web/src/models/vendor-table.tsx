import { Badge, Group, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { OperatorVendor, Switch, VendorFailure } from '../api/types.ts'
import { DataTable } from '../components/data-table.tsx'
import {
  formatAge,
  formatCallCost,
  formatCount,
  formatExactTime,
  plural,
} from '../components/format.ts'
import classes from '../components/table.module.css'
import { t } from '../language/text.ts'
import { formatShare } from './share.ts'
import { SwitchButton } from './switch-button.tsx'
import type { SwitchSubject } from './switch-kinds.ts'
import { describeVendorFailure, describeVendorState } from './vendor-words.ts'

type VendorTableProps = {
  vendors: readonly OperatorVendor[]
  switches: readonly Switch[]
  onSwitchOff: (subject: SwitchSubject) => void
}

/** Vendors with a key, in the order of their slots. */
export function VendorTable({ vendors, switches, onSwitchOff }: VendorTableProps) {
  const badges = (vendor: OperatorVendor) =>
    describeVendorState(vendor, switches).map(({ label, color }) => (
      <Badge key={label} color={color}>
        {label}
      </Badge>
    ))
  return (
    <DataTable
      label={t('Vendors')}
      className="numbers"
      rows={vendors}
      getKey={({ name }) => name}
      columns={[
        {
          head: t('Vendor'),
          cell: (vendor) => (
            <>
              {vendor.label}
              <Text c="dimmed" size="sm" component="div">
                {vendor.name}
                {vendor.endpoints.length > 1 && `, ${plural(vendor.endpoints.length, 'endpoint')}`}
              </Text>
              <Group gap="2px 8px" mt={4} hiddenFrom="sm">
                {badges(vendor)}
              </Group>
              <Text size="sm" component="div" hiddenFrom="md">
                <LastFailure failure={vendor.last_failure} />
              </Text>
            </>
          ),
        },
        {
          head: t('State'),
          visibleFrom: 'sm',
          cell: (vendor) => <Group gap={6}>{badges(vendor)}</Group>,
        },
        {
          head: t('Last failure'),
          visibleFrom: 'md',
          maw: 280,
          cell: ({ last_failure }) =>
            last_failure === null ? '–' : <LastFailure failure={last_failure} />,
        },
        {
          head: t('Calls'),
          visibleFrom: 'sm',
          ta: 'right',
          cell: ({ calls }) => formatCount(calls),
        },
        {
          head: t('Failed'),
          visibleFrom: 'sm',
          ta: 'right',
          breaks: 'nowhere',
          cell: ({ failed, calls }) => formatShare(failed, calls),
        },
        {
          head: t('Cost'),
          ta: 'right',
          cell: ({ calls, cost_usd }) => (calls === 0 ? '–' : formatCallCost(cost_usd)),
        },
        {
          head: t('Switch'),
          hasButtons: true,
          ta: 'right',
          cell: ({ name }) => (
            <SwitchButton
              subject={{ kind: 'vendor', subject: name }}
              switches={switches}
              onSwitchOff={onSwitchOff}
            />
          ),
        },
      ]}
    />
  )
}

/** Links to the customer whose call failed, at their calls. */
function LastFailure({ failure }: { failure: VendorFailure | null }) {
  if (failure === null) return null
  const { at, user_id, error_detail } = failure
  return (
    <>
      <Link
        to="/customers/$id"
        params={{ id: user_id }}
        search={{ about: 'calls' }}
        className={classes.open}
        title={formatExactTime(at)}
      >
        {describeVendorFailure(failure.failure)}, {formatAge(at)}
      </Link>
      {error_detail && (
        <Text c="dimmed" size="sm" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
          {error_detail}
        </Text>
      )}
    </>
  )
}
