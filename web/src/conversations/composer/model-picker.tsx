import { IconChevronDown, IconPhoto } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { ConversationModel } from '../../api/types.ts'
import { formatCompact } from '../../components/format.ts'
import { Popover, type PopoverTarget } from '../../components/popover.tsx'
import { dollarLocale } from '../../language/language.ts'
import { t } from '../../language/text.ts'
import { PickList, type PickOption } from '../parts/pick-list.tsx'
import { chatModelsQuery } from '../queries.ts'
import classes from './composer.module.css'

type ModelMenuProps = {
  label: string
  model: string | null | undefined
  onPick: (model: string) => void
  button: (target: PopoverTarget) => React.ReactNode
}

/** Searchable list of models with price, context, pictures and speed. */
export function ModelMenu({ label, model, onPick, button }: ModelMenuProps) {
  return (
    <Popover label={label} button={button} width={430}>
      {(close) => (
        <ModelList
          label={label}
          model={model}
          onPick={(picked) => {
            close()
            onPick(picked)
          }}
        />
      )}
    </Popover>
  )
}

function ModelList({ label, model, onPick }: Omit<ModelMenuProps, 'button'>) {
  const models = useQuery(chatModelsQuery)
  return (
    <PickList
      label={label}
      placeholder={t('Search models; prices per million tokens')}
      options={(models.data?.models ?? []).map(describeModel)}
      isChosen={(value) => value === model}
      onPick={onPick}
      empty={
        models.isError ? t('Couldn’t load the models. Close this and try again.') : t('Loading…')
      }
    />
  )
}

type ModelPickerProps = { model: string | undefined; onChange: (model: string) => void }

export function ModelPicker({ model, onChange }: ModelPickerProps) {
  const models = useQuery(chatModelsQuery)
  const current = model ?? models.data?.default_model
  return (
    <ModelMenu
      label={t('Model')}
      model={current}
      onPick={onChange}
      button={(target) => (
        <button
          type="button"
          {...target}
          className={`${classes.pill} ${classes.model}`}
          aria-label={t('Model: {0}', current ?? 'loading')}
        >
          <span className={classes.modelName}>{current ?? t('Model')}</span>
          <IconChevronDown size={15} aria-hidden />
        </button>
      )}
    />
  )
}

function describeModel(model: ConversationModel): PickOption {
  const { name, vendor, prices, context_tokens, vision, tokens_per_second } = model
  const facts = [
    vendor,
    t(
      '${0} in, ${1} out',
      formatPrice(prices.input_usd_per_million),
      formatPrice(prices.output_usd_per_million),
    ),
    context_tokens && t('{0} context', formatCompact(context_tokens)),
    tokens_per_second && t('{0} tokens/s', Math.round(tokens_per_second)),
  ]
  return {
    value: name,
    label: name,
    detail: facts.filter(Boolean).join(' · '),
    ...(vision && { note: <IconPhoto size={16} aria-label={t('Reads pictures')} role="img" /> }),
  }
}

/** At least two digits, so that prices compare: `0.05`, `1.25`, `15`. */
function formatPrice(usd: number): string {
  return usd.toLocaleString(dollarLocale, {
    minimumFractionDigits: Number.isInteger(usd) ? 0 : 2,
    maximumFractionDigits: 3,
  })
}
