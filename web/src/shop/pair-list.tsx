import { ActionIcon, Button, Textarea, TextInput } from '@mantine/core'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { t } from '../language/text.ts'
import { createPair, type Pair } from './product-fields.ts'
import classes from './products.module.css'

type PairListProps = {
  title: string
  labels: [left: string, right: string]
  add: string
  /** The second text has several lines. */
  isLong?: boolean
  pairs: Pair[]
  error: string | undefined
  onChange: (pairs: Pair[]) => void
}

/** Rows of two texts, which can be added and removed. */
export function PairList({ title, labels, add, isLong, pairs, error, onChange }: PairListProps) {
  const Right = isLong ? Textarea : TextInput
  const change = (id: string, part: Partial<Pair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...part } : pair)))
  return (
    <fieldset className={classes.pairs}>
      <legend>{title}</legend>
      {pairs.map(({ id, left, right }, at) => (
        <div key={id} className={classes.row}>
          <TextInput
            aria-label={`${labels[0]} ${at + 1}`}
            placeholder={labels[0]}
            value={left}
            onChange={(event) => change(id, { left: event.currentTarget.value })}
          />
          <Right
            aria-label={`${labels[1]} ${at + 1}`}
            placeholder={labels[1]}
            value={right}
            onChange={(event) => change(id, { right: event.currentTarget.value })}
          />
          <ActionIcon
            aria-label={t('Remove row {0} of {1}', at + 1, title)}
            onClick={() => onChange(pairs.filter((pair) => pair.id !== id))}
          >
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </div>
      ))}
      {error && (
        <p role="alert" className={classes.error}>
          {error}
        </p>
      )}
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<IconPlus size={16} aria-hidden />}
        onClick={() => onChange([...pairs, createPair()])}
      >
        {add}
      </Button>
    </fieldset>
  )
}
