import { ActionIcon } from '@mantine/core'
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react'
import type { StoreProduct } from '../api/types.ts'
import { t } from '../language/text.ts'
import type { Move } from './products-query.ts'

type MoveButtonsProps = {
  product: StoreProduct
  isFirst: boolean
  isLast: boolean
  /** The move that is being stored. */
  moving: Move | undefined
  onMove: (move: Move) => void
}

/** Moves a product up and down in the shop. */
export function MoveButtons({ product, isFirst, isLast, moving, onMove }: MoveButtonsProps) {
  const { tier, name } = product
  const isMoving = (by: Move['by']) => moving?.product === product && moving.by === by
  return (
    <>
      <ActionIcon
        data-move={`${tier} -1`}
        aria-label={t('Move {0} up', name)}
        title={t('Move up')}
        disabled={isFirst}
        loading={isMoving(-1)}
        onClick={() => onMove({ product, by: -1 })}
      >
        <IconArrowUp size={18} aria-hidden />
      </ActionIcon>
      <ActionIcon
        data-move={`${tier} 1`}
        aria-label={t('Move {0} down', name)}
        title={t('Move down')}
        disabled={isLast}
        loading={isMoving(1)}
        onClick={() => onMove({ product, by: 1 })}
      >
        <IconArrowDown size={18} aria-hidden />
      </ActionIcon>
    </>
  )
}

/** Finds the pressed button in its new place; at an end of the list, its neighbour. */
export function findMoveButton(
  rows: HTMLElement | null,
  { product: { tier }, by }: Move,
): HTMLElement | null {
  const find = (direction: number) =>
    rows?.querySelector<HTMLElement>(`[data-move="${tier} ${direction}"]:not(:disabled)`) ?? null
  return find(by) ?? find(-by)
}
