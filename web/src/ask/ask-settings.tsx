import { NumberInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { NamedSlider, SettingsPopover } from '../components/settings-popover.tsx'

/** How many passages, and how near they must come. In the address, like everything a page shows. */
export function AskSettings({ topK, minScore }: { topK: number; minScore: number }) {
  const [score, setScore] = useState(minScore)
  const navigate = useNavigate()
  const set = (next: { top_k?: number; min_score?: number }) =>
    void navigate({
      to: '/ask',
      search: (search) => ({ ...search, ...next }),
      replace: true,
      resetScroll: false,
    })

  return (
    <SettingsPopover name="Question settings">
      <NumberInput
        label="Passages"
        description="At most this many are read for an answer"
        min={1}
        max={50}
        value={topK}
        onChange={(value) => typeof value === 'number' && value >= 1 && value <= 50 && set({ top_k: value })}
      />
      <NamedSlider
        name={`Least similarity: ${score.toFixed(2)}`}
        hint="Passages further away than this are left out"
        min={0}
        max={1}
        step={0.05}
        value={score}
        onChange={setScore}
        onChangeEnd={(value) => set({ min_score: value })}
      />
    </SettingsPopover>
  )
}
