type News = DocumentEventMap['vidimus:news']['detail']

/**
 * Shows a short message in the corner of the window for six seconds. With `undo`, the message has a
 * button that runs `undo`; it stays for ten seconds, or until the person signs out. The message
 * stays visible when another page is opened.
 */
export function showMessage(text: string, undo?: News['undo']): void {
  document.dispatchEvent(
    new CustomEvent<News>('vidimus:news', { detail: undo ? { text, undo } : { text } })
  )
}
