/** Adds today's date and the extension to the name. */
export function downloadFile(content: Blob, fileNamePrefix: string, extension: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = `${fileNamePrefix}-${new Date().toISOString().slice(0, 10)}.${extension}`
  link.click()
  // by then the download no longer needs the address
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
