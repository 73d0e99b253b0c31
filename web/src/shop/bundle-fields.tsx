import { Checkbox, Text } from '@mantine/core'
import type { StoreProduct } from '../api/types.ts'
import { t } from '../language/text.ts'
import { formatPrice } from './amount.ts'
import classes from './products.module.css'

type BundleFieldsProps = {
  /** Slugs. */
  bundle: string[]
  others: StoreProduct[]
  error: string | undefined
  onChange: (bundle: string[]) => void
}

/** The products that a bundle's buyer gets; without any, the product is no bundle. */
export function BundleFields({ bundle, others, error, onChange }: BundleFieldsProps) {
  const offered = others.filter(canBundle)
  if (offered.length < 2 && bundle.length === 0) return null
  return (
    <fieldset className={classes.pairs}>
      <legend>{t('A bundle of these products')}</legend>
      <Text size="xs" c="dimmed">
        {t('Choose two or more to sell them together for this price. Otherwise, choose none.')}
      </Text>
      {offered.map(({ tier, slug, name, price, currency }) => (
        <Checkbox
          key={tier}
          label={t('{0} for {1}', name, formatPrice(price, currency))}
          checked={bundle.includes(slug)}
          onChange={(event) => {
            const rest = bundle.filter((one) => one !== slug)
            onChange(event.currentTarget.checked ? [...rest, slug] : rest)
          }}
        />
      ))}
      {error && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
    </fieldset>
  )
}

const canBundle = ({ free, bundle, retired_at }: StoreProduct) =>
  free === null && bundle.length === 0 && retired_at === null
