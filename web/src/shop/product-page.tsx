import { Button, Skeleton } from '@mantine/core'
import { IconExternalLink, IconPackageOff } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { LinkButton } from '../components/links.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Notice } from '../components/notice.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { FixedNote } from './fixed-note.tsx'
import { ProductForm } from './product-form.tsx'
import { productsQuery } from './products-query.ts'
import { Releases } from './releases.tsx'

const route = getRouteApi('/app/desk/shop/products/$tier')

export function ProductPage() {
  const { tier } = route.useParams()
  const products = useQuery(productsQuery)
  return (
    <Loaded query={products} skeleton={<Skeleton h={480} />}>
      {(data) => {
        const product = data.products.find((one) => one.tier === tier)
        if (!product) {
          return (
            <Notice
              order={1}
              icon={IconPackageOff}
              title={t('No such product')}
              action={<LinkButton to="/shop/products">{t('Go to products')}</LinkButton>}
            >
              {t('It may have another tier.')}
            </Notice>
          )
        }
        return (
          <Page
            title={product.name}
            lead={<span className="mono">{tier}</span>}
            wide
            actions={
              product.retired_at === null && (
                <Button
                  component="a"
                  variant="default"
                  href={`${data.shop_url}/products/${product.slug}`}
                  target="_blank"
                  rightSection={<IconExternalLink size={16} aria-hidden />}
                >
                  {t('View in the shop')}
                </Button>
              )
            }
          >
            {data.is_fixed && <FixedNote />}
            {product.retired_at === null && product.bundle.length === 0 && <Releases tier={tier} />}
            <ProductForm
              key={tier}
              product={product}
              others={data.products.filter((one) => one !== product)}
              isFixed={data.is_fixed}
            />
          </Page>
        )
      }}
    </Loaded>
  )
}
