import { Group, Text } from '@mantine/core'
import { IconWifiOff } from '@tabler/icons-react'
import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import classes from './offline.module.css'

/** Says so when the browser has no network. What is on the page stays readable. */
export function OfflineBar() {
  const online = useSyncExternalStore(
    (changed) => onlineManager.subscribe(changed),
    () => onlineManager.isOnline(),
  )
  return (
    <div role="status">
      {!online && (
        <Group className={classes.bar} justify="center" gap="xs">
          <IconWifiOff size={18} aria-hidden />
          <Text size="sm">
            You are offline. What you see may be old; sending will fail until you are back.
          </Text>
        </Group>
      )}
    </div>
  )
}
