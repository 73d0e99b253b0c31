import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { t } from '../../language/text.ts'
import classes from './pick-list.module.css'

export type PickOption = {
  value: string
  label: string
  /** Matched by the search too. */
  detail?: string
  icon?: ReactNode
  /** Shown behind the label. */
  note?: ReactNode
}

type PickListProps = {
  /** Names the search field. */
  label: string
  placeholder: string
  options: PickOption[]
  isChosen: (value: string) => boolean
  onPick: (value: string) => void
  /** Several options can be chosen. */
  multiple?: boolean
  /** Shown instead of an empty list. */
  empty: ReactNode
}

/** Searchable list: the field keeps the focus, and arrow keys move through the options. */
export function PickList({
  label,
  placeholder,
  options,
  isChosen,
  onPick,
  multiple = false,
  empty,
}: PickListProps) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const found = filterOptions(options, typed)
  const [at, setAt] = useState(() =>
    Math.max(
      0,
      options.findIndex(({ value }) => isChosen(value)),
    ),
  )
  const active = found[Math.min(at, found.length - 1)]
  const field = useRef<HTMLInputElement>(null)

  useEffect(() => field.current?.focus({ preventScroll: true }), [])

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && found.length > 0) {
      event.preventDefault()
      setAt((Math.min(at, found.length - 1) + step + found.length) % found.length)
    } else if (event.key === 'Enter') {
      event.preventDefault()
      if (active) onPick(active.value)
    }
  }

  return (
    <>
      <input
        ref={field}
        className={classes.field}
        role="combobox"
        aria-label={label}
        aria-expanded="true"
        aria-controls={`${id}-list`}
        aria-activedescendant={active && `${id}-${active.value}`}
        aria-autocomplete="list"
        placeholder={placeholder}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      {found.length === 0 ? (
        <p className={classes.empty}>{options.length === 0 ? empty : t('No results')}</p>
      ) : (
        <div
          id={`${id}-list`}
          role="listbox"
          aria-label={label}
          aria-multiselectable={multiple || undefined}
          className={classes.list}
        >
          {found.map((option) => (
            <PickRow
              key={option.value}
              id={`${id}-${option.value}`}
              option={option}
              isActive={option === active}
              isChosen={isChosen(option.value)}
              onPick={onPick}
            />
          ))}
        </div>
      )}
    </>
  )
}

type PickRowProps = {
  id: string
  option: PickOption
  isActive: boolean
  isChosen: boolean
  onPick: (value: string) => void
}

export function PickRow({ id, option, isActive, isChosen, onPick }: PickRowProps) {
  return (
    // The field handles the keys of its options.
    // biome-ignore lint/a11y/useKeyWithClickEvents: see above.
    <div
      id={id}
      ref={isActive ? intoView : undefined}
      role="option"
      tabIndex={-1}
      aria-selected={isChosen}
      data-active={isActive || undefined}
      className={classes.option}
      // The field keeps the focus.
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => onPick(option.value)}
    >
      {option.icon}
      <span className={classes.words}>
        <span className={classes.label} dir="auto">
          {option.label}
        </span>
        {option.detail && <span className={classes.detail}>{option.detail}</span>}
      </span>
      {option.note}
      <span className={classes.check} aria-hidden>
        {isChosen ? '✓' : ''}
      </span>
    </div>
  )
}

function intoView(row: HTMLElement | null): void {
  row?.scrollIntoView({ block: 'nearest' })
}

/** Every typed word must occur in the label or the detail. */
export function filterOptions(options: PickOption[], typed: string): PickOption[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  return options.filter(({ label, detail = '' }) => {
    const text = `${label} ${detail}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
