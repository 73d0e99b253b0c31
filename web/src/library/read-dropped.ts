/** Returns dropped files, and those inside dropped folders. */
export async function readDropped({ items, files }: DataTransfer): Promise<File[]> {
  // Entries are gone after the event, so all are read first.
  const entries = [...items].map((item) => item.webkitGetAsEntry())
  const found = [...files]
  if (entries.every((entry) => entry === null || entry.isFile)) return found
  return (await Promise.all(entries.map(readEntry))).flat()
}

async function readEntry(entry: FileSystemEntry | null): Promise<File[]> {
  if (entry === null || entry.name.startsWith('.')) return []
  if (entry.isFile) {
    return [
      await new Promise<File>((resolve, reject) =>
        (entry as FileSystemFileEntry).file(resolve, reject),
      ),
    ]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const files: File[] = []
  // A reader returns at most 100 entries at a time, and none at the end.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (entries.length === 0) return files
    files.push(...(await Promise.all(entries.map(readEntry))).flat())
  }
}
