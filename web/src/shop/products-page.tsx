import { Badge, Box, Skeleton, Table, Text } from '@mantine/core'
import { IconPackage, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { StoreProduct } from '../api/types.ts'
import { FormProblem } from '../components/form-problem.tsx'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { ScrollX } from '../components/scroll-x.tsx'
import tableClasses from '../components/table.module.css'
import { t } from '../language/text.ts'
import { formatPrice } from './amount.ts'
import { FixedNote } from './fixed-note.tsx'
import { findMoveButton, MoveButtons } from './move-buttons.tsx'
import { type Move, moveProduct, productsQuery } from './products-query.ts'

export function ProductsPage() {
  const products = useQuery(productsQuery)
  return (
    <Page
      title={t('Products')}
      lead={t('What the shop sells. Each tier is a product with its own price and files.')}
      wide
      actions={
        products.data?.is_fixed === false && (
          <LinkButton to="/shop/products/new" leftSection={<IconPlus size={18} aria-hidden />}>
            {t('New product')}
          </LinkButton>
        )
      }
    >
      <Loaded query={products} skeleton={<Skeleton h={320} />}>
        {(data) => (
          <>
            {data.is_fixed && <FixedNote />}
            {data.products.length === 0 ? (
              <Notice icon={IconPackage} title={t('No products')}>
                {t('Create the first one. It is for sale as soon as it has a published release.')}
              </Notice>
            ) : (
              <ProductTable products={data.products} isFixed={data.is_fixed} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function ProductTable({ products, isFixed }: { products: StoreProduct[]; isFixed: boolean }) {
  const sold = products.filter(({ retired_at }) => retired_at === null)
  const move = useMutation({ mutationFn: (wanted: Move) => moveProduct(wanted, sold) })
  const body = useKeptFocus(products, move.isSuccess ? move.variables : undefined)
  return (
    <>
      <FormProblem problem={move.error} />
      <ScrollX label={t('Products')}>
        <Table highlightOnHover>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('Name')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('Tier')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('Updates')}</Table.Th>
              <Table.Th visibleFrom="sm">{t('Status')}</Table.Th>
              <Table.Th ta="right">{t('Price')}</Table.Th>
              {!isFixed && <Table.Th aria-label={t('Order')} />}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody ref={body}>
            {products.map((product) => (
              <Table.Tr key={product.tier}>
                <Table.Td>
                  <Link
                    to="/shop/products/$tier"
                    params={{ tier: product.tier }}
                    className={tableClasses.open}
                  >
                    {product.name}
                  </Link>
                  <Box hiddenFrom="sm" mt={2}>
                    <ProductStatus product={product} />
                  </Box>
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <Text component="span" size="sm" className="mono">
                    {product.tier}
                  </Text>
                </Table.Td>
                <Table.Td visibleFrom="sm">{describeUpdates(product)}</Table.Td>
                <Table.Td visibleFrom="sm">
                  <ProductStatus product={product} />
                </Table.Td>
                <Table.Td ta="right" className={tableClasses.whole}>
                  {product.free === null ? formatPrice(product.price, product.currency) : t('Free')}
                </Table.Td>
                {!isFixed && (
                  <Table.Td ta="right" className={tableClasses.actions}>
                    {sold.includes(product) && (
                      <MoveButtons
                        product={product}
                        isFirst={product === sold[0]}
                        isLast={product === sold.at(-1)}
                        moving={move.isPending ? move.variables : undefined}
                        onMove={move.mutate}
                      />
                    )}
                  </Table.Td>
                )}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollX>
    </>
  )
}

/** Returns a ref for the rows. The moved row keeps the focus, which its buttons lose as they move. */
function useKeptFocus(products: StoreProduct[], last: Move | undefined) {
  const body = useRef<HTMLTableSectionElement>(null)
  const focused = useRef(last)
  useEffect(() => {
    if (!last || focused.current === last || products.includes(last.product)) return
    focused.current = last
    findMoveButton(body.current, last)?.focus()
  }, [products, last])
  return body
}

/** The shop shows a product without a published release as "Coming soon". */
function ProductStatus({ product }: { product: StoreProduct }) {
  if (product.retired_at !== null) return <Badge color="gray">{t('Retired')}</Badge>
  if (!product.is_for_sale) return <Badge color="brass">{t('Coming soon')}</Badge>
  return <Badge color="pine">{t('Listed')}</Badge>
}

function describeUpdates({ bundle, updates_months }: StoreProduct): string {
  if (bundle.length > 0) return t('As its products')
  if (updates_months === null) return t('Never end')
  return updates_months === 1 ? t('1 month') : t('{0} months', updates_months)
}
