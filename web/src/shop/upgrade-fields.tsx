import { NativeSelect, TextInput } from '@mantine/core'
import type { StoreProduct } from '../api/types.ts'
import { t } from '../language/text.ts'
import type { UpgradeField } from './product-fields.ts'
import classes from './products.module.css'

type UpgradeFieldsProps = {
  upgrades: UpgradeField[]
  currency: string
  others: StoreProduct[]
  error: string | undefined
  onChange: (upgrades: UpgradeField[]) => void
}

/** For each other product: whether its owners can upgrade, and for how much. */
export function UpgradeFields({ upgrades, currency, others, error, onChange }: UpgradeFieldsProps) {
  const names = new Map(others.map(({ tier, name }) => [tier, name]))
  // Upgrades from products that have left the list are kept.
  const tiers = new Set([...names.keys(), ...upgrades.map(({ tier }) => tier)])
  const change = (tier: string, price: string) =>
    onChange([...upgrades.filter((one) => one.tier !== tier), { tier, price }])
  if (tiers.size === 0) return null
  return (
    <fieldset className={classes.pairs}>
      <legend>{t('Owners of other products upgrade')}</legend>
      {[...tiers].map((tier) => {
        const name = names.get(tier) ?? tier
        const price = upgrades.find((one) => one.tier === tier)?.price ?? ''
        const kind = price === '' || price === 'difference' ? price : 'fixed'
        return (
          <div key={tier} className={classes.row}>
            <NativeSelect
              aria-label={t('From {0}', name)}
              value={kind}
              data={[
                { value: '', label: t('From {0}: no', name) },
                { value: 'difference', label: t('From {0}: for the difference', name) },
                { value: 'fixed', label: t('From {0}: for a fixed price', name) },
              ]}
              onChange={(event) => {
                const { value } = event.currentTarget
                change(tier, value === 'fixed' ? '0' : value)
              }}
            />
            {kind === 'fixed' && (
              <TextInput
                aria-label={t('Price of the upgrade from {0} in {1}', name, currency.toUpperCase())}
                inputMode="decimal"
                pattern="\d+(\.\d+)?"
                required
                value={price}
                onChange={(event) => change(tier, event.currentTarget.value || '0')}
              />
            )}
          </div>
        )
      })}
      {error && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
    </fieldset>
  )
}
