import { Table, type TableProps, type TableTdProps } from '@mantine/core'
import type { ReactNode } from 'react'
import { ScrollX } from './scroll-x.tsx'
import classes from './table.module.css'

/** A column; properties beyond these are those of its cells. */
export type Column<Row> = Omit<TableTdProps, 'children' | 'className' | 'title'> & {
  head: string
  cell: (row: Row) => ReactNode
  title?: (row: Row) => string | undefined
  /** Where lines may break, if not between words. */
  breaks?: 'nowhere' | 'anywhere'
  /** Buttons explain themselves, so screen readers alone get the head. */
  hasButtons?: boolean
}

type DataTableProps<Row> = Omit<TableProps, 'data'> & {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  getKey: (row: Row) => string
}

/** A table that scrolls sideways where its columns do not fit. */
export function DataTable<Row>({ label, rows, columns, getKey, ...table }: DataTableProps<Row>) {
  return (
    <ScrollX label={label}>
      <Table highlightOnHover {...table}>
        <Table.Thead>
          <Table.Tr>
            {columns.map(({ head, hasButtons, visibleFrom, ta, w }) => (
              <Table.Th key={head} visibleFrom={visibleFrom} ta={ta} w={w}>
                {hasButtons ? <span className="visually-hidden">{head}</span> : head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={getKey(row)}>
              {columns.map((column) => (
                <Cell key={column.head} row={row} {...column} />
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollX>
  )
}

function Cell<Row>({
  row,
  head,
  cell,
  title,
  breaks,
  hasButtons,
  w,
  ...props
}: Column<Row> & { row: Row }) {
  return (
    <Table.Td
      title={title?.(row)}
      style={breaks === 'anywhere' ? { overflowWrap: 'anywhere' } : undefined}
      className={hasButtons ? classes.actions : breaks === 'nowhere' ? classes.whole : undefined}
      {...props}
    >
      {cell(row)}
    </Table.Td>
  )
}
