import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/text.ts'
import { FixedNote } from './fixed-note.tsx'
import { ProductForm } from './product-form.tsx'
import { productsQuery } from './products-query.ts'

export function NewProductPage() {
  const products = useQuery(productsQuery)
  return (
    <Page title={t('New product')} lead={t('It is for sale once it has a published release.')} wide>
      <Loaded query={products} skeleton={<Skeleton h={480} />}>
        {({ is_fixed, products: others }) =>
          is_fixed ? <FixedNote /> : <ProductForm product={null} others={others} isFixed={false} />
        }
      </Loaded>
    </Page>
  )
}
