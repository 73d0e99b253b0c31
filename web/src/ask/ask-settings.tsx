import { ActionIcon, NumberInput, Popover, Slider, Stack, Text, Tooltip } from '@mantine/core'
import { IconAdjustmentsHorizontal } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'

/** How many passages, and how near they must come. In the address, like everything a page shows. */
export function AskSettings({ topK, minScore }: { topK: number; minScore: number }) {
  const scoreId = useId()
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
    <Popover width={300} position="bottom-end" shadow="md" withArrow trapFocus withinPortal={false}>
      <Popover.Target>
        <Tooltip label="Settings">
          <ActionIcon aria-label="Question settings">
            <IconAdjustmentsHorizontal size={20} stroke={1.6} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown aria-label="Question settings">
        <Stack gap="md">
          <NumberInput
            label="Passages"
            description="At most this many are read for an answer"
            min={1}
            max={50}
            value={topK}
            onChange={(value) => typeof value === 'number' && value >= 1 && value <= 50 && set({ top_k: value })}
          />
          <div>
            <Text fw={500} id={scoreId}>
              Least similarity: {score.toFixed(2)}
            </Text>
            <Text c="dimmed" size="sm" mb="xs">
              Passages further away than this are left out
            </Text>
            <Slider
              min={0}
              max={1}
              step={0.05}
              label={null}
              value={score}
              onChange={setScore}
              onChangeEnd={(value) => set({ min_score: value })}
              thumbProps={{ 'aria-labelledby': scoreId }}
            />
          </div>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
