/** Adds today's date and the extension to the name. */
export function downloadFile(content: Blob, fileNamePrefix: string, extension: string): void {
  const name = `${fileNamePrefix}-${new Date().toISOString().slice(0, 10)}.${extension}`
  saveFile(new File([content], name, { type: content.type }))
}

export function saveFile(file: File): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = file.name
  link.click()
  // by then the download no longer needs the address
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
