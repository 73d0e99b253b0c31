import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api } from '../api/client.ts'
import { fieldErrors } from '../api/problem.ts'
import type { StoreProduct } from '../api/types.ts'
import { Confirm } from '../components/confirm.tsx'
import { FormProblem } from '../components/form-problem.tsx'
import { showToast } from '../components/toasts.tsx'
import { t } from '../language/text.ts'
import {
  formatFields,
  NEW_PRODUCT,
  type ProductFields,
  readFields,
  suggestTier,
} from './product-fields.ts'
import { ProductPreview } from './product-preview.tsx'
import { LicenseSection, PageSection, SaleSection } from './product-sections.tsx'
import classes from './products.module.css'
import { reloadProducts } from './products-query.ts'

type ProductFormProps = {
  /** Null: a new product. */
  product: StoreProduct | null
  others: StoreProduct[]
  isFixed: boolean
}

/** The fields of a product beside its card in the shop, which follows what is typed. */
export function ProductForm({ product, others, isFixed }: ProductFormProps) {
  const [fields, setFields] = useState(product ? formatFields(product) : NEW_PRODUCT)
  const [ownTier, setOwnTier] = useState<string | null>(null)
  const navigate = useNavigate()
  const tier = product?.tier ?? ownTier ?? suggestTier(fields.name)
  const set = (change: Partial<ProductFields>) => setFields((before) => ({ ...before, ...change }))
  const isNew = product === null || product.retired_at !== null
  const save = useMutation({
    mutationFn: () =>
      isNew
        ? api.post('/api/admin/products', { tier, ...readFields(fields) })
        : api.put(
            '/api/admin/products/{tier}',
            { ...readFields(fields), revision: product.revision },
            { path: { tier } },
          ),
    onSuccess: async (saved) => {
      showToast(isNew ? t('Product created') : t('Product saved'))
      setFields(formatFields(saved))
      await reloadProducts()
      await navigate({ to: '/shop/products/$tier', params: { tier } })
    },
  })
  const errors = fieldErrors(save.error)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const sections = { fields, set, errors }
  return (
    <div className={classes.columns}>
      <form onSubmit={submit} aria-label={t('Product')}>
        <fieldset disabled={isFixed} className={classes.form}>
          <SaleSection
            {...sections}
            tier={tier}
            onTier={product === null ? setOwnTier : null}
            others={others}
          />
          <LicenseSection {...sections} others={others} />
          <PageSection {...sections} />
          <FormProblem problem={save.error} />
          {!isFixed && (
            <div className={classes.buttons}>
              <Button type="submit" loading={save.isPending}>
                {product === null ? t('Create product') : isNew ? t('Sell again') : t('Save')}
              </Button>
              {product?.retired_at === null && <RetireButton product={product} />}
            </div>
          )}
        </fieldset>
      </form>
      <ProductPreview fields={fields} others={others} />
    </div>
  )
}

function RetireButton({ product: { tier, name } }: { product: StoreProduct }) {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsAsked(true)}>
        {t('End the sale')}
      </Button>
      <Confirm
        opened={isAsked}
        onClose={() => setIsAsked(false)}
        title={t('End the sale of {0}?', name)}
        action={t('End the sale')}
        onConfirm={async () => {
          await api.delete('/api/admin/products/{tier}', undefined, { path: { tier } })
          showToast(t('Product no longer sold'))
          await reloadProducts()
        }}
      >
        {t(
          'It leaves the shop. Its buyers keep their licenses, downloads and updates. You can sell it again.',
        )}
      </Confirm>
    </>
  )
}
