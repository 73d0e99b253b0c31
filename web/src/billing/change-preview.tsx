import { Table, Text } from '@mantine/core'
import type { ChangePreview } from '../api/types.ts'
import { formatDay, formatMoney } from '../components/format.ts'
import { t } from '../language/text.ts'

/** Returns the instant at which a smaller plan begins; null when the change begins at once. */
export function readStart({ takes_effect }: ChangePreview): string | null {
  return Date.parse(takes_effect) > Date.now() + 60_000 ? takes_effect : null
}

/** What a plan change costs now and later. */
export function ChangeCosts({ preview }: { preview: ChangePreview }) {
  const { lines, currency, due_now: now, interval } = preview
  const { due_later: later, due_later_at: laterAt } = preview
  return (
    <>
      <Table mt="sm">
        <Table.Tbody>
          {lines.map(({ description, amount }) => (
            <Table.Tr key={`${description} ${amount}`}>
              <Table.Td>{description}</Table.Td>
              <Table.Td ta="right">{formatMoney(amount, currency)}</Table.Td>
            </Table.Tr>
          ))}
          <Table.Tr>
            <Table.Th>{t('Due now')}</Table.Th>
            <Table.Th ta="right">{formatMoney(now, currency)}</Table.Th>
          </Table.Tr>
          {later !== null && laterAt !== null && (
            <Table.Tr>
              <Table.Td>{t('From {0}, every {1}', formatDay(laterAt), interval)}</Table.Td>
              <Table.Td ta="right">{formatMoney(later, currency)}</Table.Td>
            </Table.Tr>
          )}
        </Table.Tbody>
      </Table>
      <Text c="dimmed" size="sm" mt="xs">
        {t('Later amounts exclude discounts and taxes.')}
      </Text>
    </>
  )
}
