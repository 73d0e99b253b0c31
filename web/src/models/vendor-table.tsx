import { Badge, Group, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { OperatorVendor, Switch, VendorFailure } from '../api/types.ts'
import {
  formatAge,
  formatCallCost,
  formatCount,
  formatExactTime,
  plural,
} from '../components/format.ts'
import { ScrollX } from '../components/scroll-x.tsx'
import { t } from '../language/text.ts'
import classes from '../shop/table.module.css'
import { formatShare } from './share.ts'
import { SwitchButton } from './switch-button.tsx'
import type { SwitchSubject } from './switch-dialog.tsx'
import { describeVendorFailure, describeVendorState } from './vendor-words.ts'

type VendorTableProps = {
  vendors: readonly OperatorVendor[]
  switches: readonly Switch[]
  onSwitchOff: (subject: SwitchSubject) => void
}

/** Vendors with a key, in the order of their slots. */
export function VendorTable({ vendors, switches, onSwitchOff }: VendorTableProps) {
  return (
    <ScrollX label={t('Vendors')}>
      <Table highlightOnHover className="numbers">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('Vendor')}</Table.Th>
            <Table.Th visibleFrom="sm">{t('State')}</Table.Th>
            <Table.Th visibleFrom="md">{t('Last failure')}</Table.Th>
            <Table.Th visibleFrom="sm" ta="right">
              {t('Calls')}
            </Table.Th>
            <Table.Th visibleFrom="sm" ta="right">
              {t('Failed')}
            </Table.Th>
            <Table.Th ta="right">{t('Cost')}</Table.Th>
            <Table.Th>
              <span className="visually-hidden">{t('Switch')}</span>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {vendors.map((vendor) => (
            <Table.Tr key={vendor.name}>
              <Table.Td>
                {vendor.label}
                <Text c="dimmed" size="sm" component="div">
                  {vendor.name}
                  {vendor.endpoints.length > 1 &&
                    `, ${plural(vendor.endpoints.length, 'endpoint')}`}
                </Text>
                <Group gap="2px 8px" mt={4} hiddenFrom="sm">
                  <StateBadges vendor={vendor} switches={switches} />
                </Group>
                <Text size="sm" component="div" hiddenFrom="md">
                  <LastFailure failure={vendor.last_failure} />
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Group gap={6}>
                  <StateBadges vendor={vendor} switches={switches} />
                </Group>
              </Table.Td>
              <Table.Td visibleFrom="md" maw={280}>
                <LastFailure failure={vendor.last_failure} />
                {vendor.last_failure === null && '–'}
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right">
                {formatCount(vendor.calls)}
              </Table.Td>
              <Table.Td visibleFrom="sm" ta="right" className={classes.whole}>
                {formatShare(vendor.failed, vendor.calls)}
              </Table.Td>
              <Table.Td ta="right">
                {vendor.calls === 0 ? '–' : formatCallCost(vendor.cost_usd)}
              </Table.Td>
              <Table.Td ta="right" className={classes.actions}>
                <SwitchButton
                  subject={{ kind: 'vendor', subject: vendor.name }}
                  switches={switches}
                  onSwitchOff={onSwitchOff}
                />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

type StateProps = { vendor: OperatorVendor; switches: readonly Switch[] }

function StateBadges({ vendor, switches }: StateProps) {
  return describeVendorState(vendor, switches).map(({ label, color }) => (
    <Badge key={label} color={color}>
      {label}
    </Badge>
  ))
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
