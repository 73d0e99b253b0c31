/** Saves a response as a file. Uses an object URL, because a plain link sends no access token. */
export async function saveFile(response: Response, fallbackName: string): Promise<void> {
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download =
    /filename="?([^";]+)/.exec(response.headers.get('content-disposition') ?? '')?.[1] ??
    fallbackName
  link.click()
  URL.revokeObjectURL(url)
}
