import { Button, Group, Select, Skeleton, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconDownload, IconReceipt, IconSearch } from '@tabler/icons-react'
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FormProblem } from '../components/form-problem.tsx'
import { plural } from '../components/format.ts'
import { Loaded } from '../components/loaded.tsx'
import { MoreRows } from '../components/more-rows.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { type OrderStatus, STATUSES } from './order-status.tsx'
import { OrderTable } from './order-table.tsx'
import { downloadOrders, type OrderFilters, ordersQuery } from './orders-query.ts'
import { productsQuery } from './products-query.ts'

const route = getRouteApi('/app/desk/shop/orders')

export function OrdersPage() {
  const filters: OrderFilters = route.useSearch()
  const orders = useInfiniteQuery({
    ...ordersQuery(filters),
    placeholderData: (previous) => previous,
  })
  const download = useMutation({ mutationFn: () => downloadOrders(filters) })
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  return (
    <Page
      title={t('Orders')}
      lead={t('Every purchase, newest first.')}
      wide
      actions={
        <Button
          variant="default"
          leftSection={<IconDownload size={18} aria-hidden />}
          loading={download.isPending}
          onClick={() => download.mutate()}
        >
          {t('Export CSV')}
        </Button>
      }
    >
      <FormProblem problem={download.error} />
      <Filters filters={filters} />
      <section aria-label={t('All orders')}>
        <Loaded query={orders} skeleton={<Skeleton h={420} />}>
          {({ pages }) => {
            const shown = pages.flatMap(({ purchases }) => purchases)
            if (shown.length === 0) return <NoOrders isFiltered={isFiltered} />
            return (
              <>
                <OrderTable orders={shown} />
                <MoreRows loaded={plural(shown.length, 'order')} query={orders} />
              </>
            )
          }}
        </Loaded>
      </section>
    </Page>
  )
}

function NoOrders({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? (
    <Notice icon={IconReceipt} title={t('No orders match these filters')}>
      {t(
        'Search by the whole order number, payment or license key, or by a part of the buyer’s email address or name.',
      )}
    </Notice>
  ) : (
    <Notice icon={IconReceipt} title={t('No orders yet')}>
      {t('A purchase appears here as soon as it is paid.')}
    </Notice>
  )
}

function Filters({ filters }: { filters: OrderFilters }) {
  const navigate = route.useNavigate()
  const products = useQuery(productsQuery)
  const set = (next: OrderFilters) =>
    void navigate({
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })
  const search = useDebouncedCallback((q: string) => set({ q: q.trim() || undefined }), 250)
  return (
    <Group gap="sm" mb="md" align="flex-start">
      <TextInput
        type="search"
        flex="1 1 18rem"
        aria-label={t('Search orders')}
        placeholder={t('Email, name, order number, payment or license key')}
        leftSection={<IconSearch size={18} aria-hidden />}
        maxLength={254}
        defaultValue={filters.q ?? ''}
        onChange={({ currentTarget: { value } }) => search(value)}
      />
      <Select
        aria-label={t('Product')}
        placeholder={t('Any product')}
        clearable
        w={{ base: 'calc(50% - 6px)', xs: 170 }}
        value={filters.product ?? null}
        onChange={(product) => set({ product: product ?? undefined })}
        data={products.data?.products.map(({ tier, name }) => ({ value: tier, label: name })) ?? []}
      />
      <Select
        aria-label={t('Status')}
        placeholder={t('Any status')}
        clearable
        w={{ base: 'calc(50% - 6px)', xs: 170 }}
        value={filters.status ?? null}
        onChange={(status) => set({ status: (status as OrderStatus | null) ?? undefined })}
        data={Object.entries(STATUSES).map(([value, { name }]) => ({ value, label: name }))}
      />
    </Group>
  )
}
